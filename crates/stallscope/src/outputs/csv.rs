//! Tables as CSV (RFC 4180): a line of names, then one line per row; nothing between two commas where
//! nothing was read.

use std::io::Write;

use anyhow::{Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

/// Writes a table; returns how many rows it has.
pub(crate) fn write(
    out: impl Write,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<u64> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(schema.fields().iter().map(|field| field.name()))?;
    let mut rows = 0;
    let mut text = String::new();
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                text.clear();
                cell(column, row, &mut text)?;
                csv.write_field(&text)?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        rows += batch.num_rows() as u64;
    }
    csv.flush()?;
    Ok(rows)
}

fn cell(column: &dyn Array, row: usize, text: &mut String) -> Result<()> {
    use std::fmt::Write as _;
    if column.is_null(row) {
        return Ok(());
    }
    match column.data_type() {
        DataType::Int64 => write!(text, "{}", column.as_primitive::<Int64Type>().value(row))?,
        DataType::UInt32 => write!(text, "{}", column.as_primitive::<UInt32Type>().value(row))?,
        DataType::Boolean => write!(text, "{}", column.as_boolean().value(row))?,
        DataType::Timestamp(..) => {
            let ns = column.as_primitive::<TimestampNanosecondType>().value(row);
            let instant = jiff::Timestamp::from_nanosecond(i128::from(ns))
                .context("64 bits of nanoseconds end in 2262")?;
            write!(text, "{instant:.9}")?;
        }
        _ => text.push_str(column.as_string::<i32>().value(row)),
    }
    Ok(())
}
