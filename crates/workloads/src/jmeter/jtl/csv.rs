//! Results as CSV. A header names the columns, in any choice and with any delimiter; without one they are JMeter's own.

use super::{LONGEST_ROW, Row, TRANSACTION, whole_ms};

/// The columns of JMeter 5.6 where nobody chose others.
const OWN: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// How the rows are read.
pub(super) struct Table {
    delimiter: char,
    columns: Columns,
    /// A header, which is no row.
    header: Option<String>,
    /// The beginning of a row that has a line end in quotes.
    open: String,
}

/// Where in a row the fields lie.
struct Columns {
    count: usize,
    at: usize,
    elapsed: usize,
    label: usize,
    success: usize,
    message: usize,
}

impl Table {
    /// Looks at the first line of a file; it is to be read as any other all the same.
    pub(super) fn begin(line: &str) -> Result<Self, &'static str> {
        let (delimiter, header) = match line.strip_prefix("timeStamp") {
            Some(rest) => (rest.chars().next().unwrap_or(','), Some(line.to_owned())),
            None => (',', None),
        };
        let names: Vec<String> = match &header {
            Some(header) => fields(header, delimiter).ok_or("its header is cut off")?,
            None => OWN.map(str::to_owned).into(),
        };
        let find = |name: &str| names.iter().position(|it| it == name);
        let columns = Columns {
            count: names.len(),
            at: find("timeStamp").ok_or("it has no column timeStamp")?,
            elapsed: find("elapsed").ok_or("it has no column elapsed")?,
            label: find("label").ok_or("it has no column label")?,
            success: find("success").ok_or("it has no column success")?,
            message: find("responseMessage").ok_or(
                "without a column responseMessage samples and transactions look alike in it",
            )?,
        };
        let is_row = |line| fields(line, delimiter).is_some_and(|row| columns.row(&row).is_some());
        if header.is_none() && !is_row(line) {
            return Err("it has no header, and other columns than JMeter's own");
        }
        Ok(Self {
            delimiter,
            columns,
            header,
            open: String::new(),
        })
    }

    /// Takes a line; the row that it ends.
    pub(super) fn line(&mut self, line: &str) -> Option<Row> {
        if self.header.as_deref() == Some(line) {
            return None;
        }
        let text = if self.open.is_empty() {
            line.to_owned()
        } else {
            format!("{}\n{line}", std::mem::take(&mut self.open))
        };
        match fields(&text, self.delimiter) {
            Some(row) => self.columns.row(&row),
            None if text.len() < LONGEST_ROW => {
                self.open = text;
                None
            }
            None => None,
        }
    }
}

impl Columns {
    fn row(&self, fields: &[String]) -> Option<Row> {
        if fields.len() != self.count {
            return None;
        }
        Some(Row {
            at_unix_ms: whole_ms(&fields[self.at])?,
            elapsed_ms: whole_ms(&fields[self.elapsed])?,
            name: fields[self.label].clone(),
            is_success: match fields[self.success].as_str() {
                "true" => true,
                "false" => false,
                _ => return None,
            },
            is_transaction: fields[self.message].starts_with(TRANSACTION),
        })
    }
}

/// The fields of a row; `None` where a quote is open at its end.
fn fields(text: &str, delimiter: char) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // Two quotes in a quoted field are one.
            '"' if is_quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => is_quoted = !is_quoted,
            c if c == delimiter && !is_quoted => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    (!is_quoted).then_some(fields)
}
