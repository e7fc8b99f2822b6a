//! How a table describes itself in its file, and how that is checked when it is read.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use model::{Column, ColumnKind, FORMAT_VERSION, Table, Unit};

/// Key of the table's own description, as JSON.
const TABLE_KEY: &str = "stallscope.table";

/// Key of the format version.
pub(crate) const FORMAT_KEY: &str = "stallscope.format";

/// Key in a field's metadata: its values are differences. Counters are in files without it, too.
const STORED_KEY: &str = "stored";

/// The value of `STORED_KEY`.
const DIFFERENCE: &str = "difference";

/// The first format whose batches end in checksums.
pub(crate) const SINCE_CHECKSUMS: u32 = 3;

/// The columns before the table's own: time and entity.
pub(crate) const KEY_COLUMNS: usize = 2;

/// The Arrow schema of a table's file.
pub(crate) fn of_table(table: &Table) -> Result<Schema, serde_json::Error> {
    let metadata = [
        (TABLE_KEY.to_owned(), serde_json::to_string(table)?),
        (FORMAT_KEY.to_owned(), FORMAT_VERSION.to_string()),
    ];
    Ok(Schema::new(fields(table)).with_metadata(metadata))
}

/// The Arrow schema of a list's file.
pub(crate) fn of_list(fields: Vec<Field>) -> Schema {
    let format = (FORMAT_KEY.to_owned(), FORMAT_VERSION.to_string());
    Schema::new(fields).with_metadata([format])
}

/// The table that a file's schema describes and its format, or what is wrong with it.
pub(crate) fn to_table(schema: &Schema) -> Result<(Table, u32), String> {
    let version = check_format(schema)?;
    let text = schema
        .metadata()
        .get(TABLE_KEY)
        .ok_or_else(|| format!("it has no {TABLE_KEY}"))?;
    let table: Table = serde_json::from_str(text)
        .map_err(|error| format!("its {TABLE_KEY} cannot be understood: {error}"))?;
    let declared = fields(&table);
    if declared.len() != schema.fields().len() {
        let (found, declared) = (schema.fields().len(), declared.len());
        return Err(format!(
            "it has {found} columns, and its {TABLE_KEY} reports {declared}"
        ));
    }
    for (found, declared) in schema.fields().iter().zip(&declared) {
        if !alike(found, declared) {
            let (found, declared) = (in_words(found), in_words(declared));
            return Err(format!(
                "it has a column {found} where its {TABLE_KEY} reports {declared}"
            ));
        }
    }
    Ok((table, version))
}

/// Which columns of a new file hold differences from the row before of the same entity.
///
/// Counters do; and so do gauges, which mostly stay or move a little. Codes and numbers of strings and stacks do not:
/// they jump between values, and the values themselves repeat better than their differences.
pub(crate) fn differences(table: &Table) -> Vec<bool> {
    table.columns.iter().map(is_difference).collect()
}

/// The same of a file that is read.
pub(crate) fn stored_differences(schema: &Schema, table: &Table) -> Vec<bool> {
    let fields = schema.fields().iter().skip(KEY_COLUMNS);
    let said = |field: &Field| {
        field
            .metadata()
            .get(STORED_KEY)
            .is_some_and(|how| how == DIFFERENCE)
    };
    table
        .columns
        .iter()
        .zip(fields)
        .map(|(column, field)| column.kind == ColumnKind::Counter || said(field))
        .collect()
}

fn is_difference(column: &Column) -> bool {
    let jumps = matches!(column.unit, Unit::Code | Unit::String | Unit::Stack);
    column.kind == ColumnKind::Counter || !jumps
}

/// Refuses a file of a format that this program does not know.
pub(crate) fn check_format(schema: &Schema) -> Result<u32, String> {
    let version = schema
        .metadata()
        .get(FORMAT_KEY)
        .ok_or_else(|| format!("it has no {FORMAT_KEY}"))?;
    version
        .parse()
        .ok()
        .filter(|version| (1..=FORMAT_VERSION).contains(version))
        .ok_or_else(|| format!("its {FORMAT_KEY} is {version:?}, not 1 to {FORMAT_VERSION}"))
}

/// Whether two fields hold the same, whatever their metadata say.
pub(crate) fn alike(a: &Field, b: &Field) -> bool {
    a.name() == b.name() && a.data_type() == b.data_type() && a.is_nullable() == b.is_nullable()
}

/// The `time` column, which says its unit: nanoseconds on `CLOCK_BOOTTIME`.
pub(crate) fn time_field() -> Field {
    let unit = [("unit".to_owned(), "ns".to_owned())];
    Field::new("time", DataType::Int64, false).with_metadata(unit)
}

/// A field in the words of a message.
fn in_words(field: &Field) -> String {
    let nullable = if field.is_nullable() { "nullable " } else { "" };
    format!("{} ({nullable}{})", field.name(), field.data_type())
}

fn fields(table: &Table) -> Vec<Arc<Field>> {
    let keys = [time_field(), Field::new("entity", DataType::UInt32, false)];
    let values = table.columns.iter().map(|column| {
        let field = Field::new(&*column.name, DataType::Int64, true);
        if is_difference(column) {
            field.with_metadata([(STORED_KEY.to_owned(), DIFFERENCE.to_owned())])
        } else {
            field
        }
    });
    keys.into_iter().chain(values).map(Arc::new).collect()
}
