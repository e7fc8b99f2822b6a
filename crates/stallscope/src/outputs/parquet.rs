//! Tables as Parquet, zstd inside. What a column means stands in the fields' metadata, and for readers
//! that do not show that, in the file's key `stallscope.table`.

use std::io::Write;

use anyhow::Result;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

/// Rows that are encoded in memory before they are written: a few tens of megabytes of wide tables.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Writes a table; returns how many rows it has.
pub(crate) fn write(
    out: impl Write + Send,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<u64> {
    let about = schema.metadata().iter();
    let about = about.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_key_value_metadata(Some(about.collect()))
        .set_created_by(concat!("stallscope ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        writer.write(&batch)?;
    }
    writer.close()?;
    Ok(rows)
}
