//! Whether a record batch's description of itself can be true, before Arrow's reader believes it.
//!
//! Arrow's reader allocates what a damaged length asks for and asserts what it takes for granted.
//! So each buffer is first looked at: it must lie in the message, and hold after decompression what
//! the column's type needs for the batch's rows, and not absurdly more.

use arrow_ipc::{CompressionType, FieldNode, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

/// The prefix of a compressed buffer: its length after decompression, or -1 for "not compressed".
const PREFIX_BYTES: usize = 8;

/// Refuses columns of types that no format has.
pub(crate) fn check_types(schema: &Schema) -> Result<(), String> {
    let unknown = schema
        .fields()
        .iter()
        .find(|field| buffer_count(field).is_none());
    match unknown {
        Some(field) => Err(format!(
            "its column {} is of type {}",
            field.name(),
            field.data_type()
        )),
        None => Ok(()),
    }
}

/// The bytes that a batch takes after decompression, or what is wrong with it.
pub(crate) fn decoded_bytes(
    batch: &RecordBatch<'_>,
    schema: &Schema,
    body: &[u8],
) -> Result<u64, String> {
    let rows = u64::try_from(batch.length()).map_err(|_| "a batch has less than no rows")?;
    let compressed = is_compressed(batch)?;
    let sizes = batch
        .buffers()
        .into_iter()
        .flatten()
        .map(|b| (b.offset(), b.length()));
    let mut sizes = sizes.map(|(offset, length)| buffer_bytes(body, offset, length, compressed));
    let mut nodes = batch.nodes().into_iter().flatten();
    let mut sum = 0u64;
    for field in schema.fields() {
        let node = nodes.next().ok_or("a batch lacks columns")?;
        let wanted = buffer_count(field).ok_or("a column is of an unknown type")?;
        let buffers = sizes
            .by_ref()
            .take(wanted)
            .collect::<Result<Vec<u64>, String>>()?;
        if !fits(field, node, rows, &buffers) {
            return Err(format!(
                "column {} does not hold the batch's {rows} rows",
                field.name()
            ));
        }
        sum = buffers
            .iter()
            .fold(sum, |sum, bytes| sum.saturating_add(*bytes));
    }
    if nodes.next().is_some() || sizes.next().is_some() {
        return Err("a batch has more columns than its table".to_owned());
    }
    Ok(sum)
}

fn is_compressed(batch: &RecordBatch<'_>) -> Result<bool, String> {
    match batch.compression().map(|compression| compression.codec()) {
        None => Ok(false),
        Some(CompressionType::ZSTD) => Ok(true),
        Some(codec) => Err(format!("a batch is compressed by {codec:?}, not by zstd")),
    }
}

/// Buffers per column: validity, offsets of words, values.
fn buffer_count(field: &Field) -> Option<usize> {
    match field.data_type() {
        DataType::Int64 | DataType::UInt32 | DataType::Boolean => Some(2),
        DataType::Utf8 => Some(3),
        _ => None,
    }
}

/// How long one buffer is after decompression.
fn buffer_bytes(body: &[u8], offset: i64, length: i64, compressed: bool) -> Result<u64, String> {
    let range = usize::try_from(offset)
        .ok()
        .zip(usize::try_from(length).ok());
    let buffer = range
        .and_then(|(offset, length)| body.get(offset..offset.checked_add(length)?))
        .ok_or_else(|| {
            format!("a buffer at {offset} of {length} bytes lies outside its message")
        })?;
    if !compressed || buffer.is_empty() {
        return Ok(buffer.len() as u64);
    }
    let (prefix, rest) = buffer
        .split_first_chunk::<PREFIX_BYTES>()
        .ok_or("a compressed buffer has no length")?;
    match i64::from_le_bytes(*prefix) {
        -1 => Ok(rest.len() as u64),
        bytes => u64::try_from(bytes).map_err(|_| format!("a buffer claims {bytes} bytes")),
    }
}

/// Whether a column's buffers can hold that many rows, in whole values.
fn fits(field: &Field, node: &FieldNode, rows: u64, buffers: &[u64]) -> bool {
    let bits = rows.div_ceil(8);
    let (needed, value_bytes) = match field.data_type() {
        DataType::Int64 => (rows.saturating_mul(8), 8),
        DataType::UInt32 => (rows.saturating_mul(4), 4),
        DataType::Boolean => (bits, 1),
        // Offsets of words: one more than rows, and for no rows none is allowed.
        _ if rows == 0 => (0, 4),
        _ => (rows.saturating_add(1).saturating_mul(4), 4),
    };
    let nulls = u64::try_from(node.null_count()).unwrap_or(u64::MAX);
    let (Some(validity), Some(values)) = (buffers.first(), buffers.get(1)) else {
        return false;
    };
    u64::try_from(node.length()) == Ok(rows)
        && nulls <= rows
        && (nulls == 0 || *validity >= bits)
        && *values >= needed
        && values % value_bytes == 0
        && Some(buffers.len()) == buffer_count(field)
}
