//! A page read back from its text, by nothing that wrote it.

use std::collections::BTreeMap;
use std::io::Read as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use flate2::read::GzDecoder;
use model::{ColumnKind, Page, PageForm, PageTable};

/// A page as a browser would find it.
pub(super) struct Found {
    pub(super) page: Page,
    /// ns after the origin.
    pub(super) edges: Vec<i64>,
    pub(super) bins: BTreeMap<String, Vec<Bins>>,
    pub(super) rows: BTreeMap<String, Vec<Row>>,
}

/// One series.
#[derive(Debug)]
pub(super) struct Bins {
    pub(super) entity: usize,
    pub(super) column: usize,
    pub(super) stride: usize,
    /// ns after the origin.
    pub(super) known: (i64, i64),
    pub(super) first: usize,
    /// In the column's own unit, as all numbers here.
    pub(super) numbers: Vec<i64>,
    pub(super) low: Vec<i64>,
    pub(super) high: Vec<i64>,
}

/// One row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) at: i64,
    pub(super) entity: usize,
    pub(super) values: Vec<Option<i64>>,
}

/// The texts of the elements by their ids; nothing may stand between them.
pub(super) fn elements(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let (opening, behind) = rest.split_once('>').expect("an element opens");
        let id = opening.split_once("id=\"").expect("it has an id").1;
        let (content, behind) = behind.split_once("</script>\n").expect("it closes");
        assert!(!content.contains('<'), "{opening}");
        found.insert(id.trim_end_matches('"').to_owned(), content.to_owned());
        rest = behind;
    }
    found
}

pub(super) fn found(text: &str) -> Found {
    let elements = elements(text);
    let page: Page = serde_json::from_str(&elements["page"]).expect("the page is JSON");
    let block = |number: u32| numbers(&elements[&format!("block-{number}")]);
    let mut edges = Vec::new();
    let mut times = block(0).into_iter();
    let count = times.next().expect("a count");
    let mut at = 0;
    for difference in times {
        at += difference;
        edges.push(at);
    }
    assert_eq!(edges.len() as i64, count);
    let (mut bins, mut rows) = (BTreeMap::new(), BTreeMap::new());
    for table in &page.tables {
        let numbers = block(table.block);
        if table.form == PageForm::Rows {
            rows.insert(table.name.clone(), of_rows(table, &numbers));
        } else {
            bins.insert(table.name.clone(), of_bins(table, edges[0], &numbers));
        }
    }
    assert_eq!(elements.len(), page.tables.len() + 2);
    Found {
        page,
        edges,
        bins,
        rows,
    }
}

fn numbers(base64: &str) -> Vec<i64> {
    let packed = BASE64_STANDARD.decode(base64).expect("base64");
    let mut bytes = Vec::new();
    let mut stream = GzDecoder::new(packed.as_slice());
    stream.read_to_end(&mut bytes).expect("a gzip stream");
    let mut numbers = Vec::new();
    let (mut zigzag, mut shift) = (0u64, 0);
    for byte in bytes {
        zigzag |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            numbers.push((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
            (zigzag, shift) = (0, 0);
        }
    }
    assert_eq!(shift, 0, "the block ends with a number");
    numbers
}

fn of_bins(table: &PageTable, first_edge: i64, numbers: &[i64]) -> Vec<Bins> {
    let mut all = Vec::new();
    let mut rest = numbers.iter().copied();
    while let Some(entity) = rest.next() {
        let mut next = || rest.next().expect("the series is whole");
        let column = next() as usize;
        let scale = table.columns[column].scale;
        let gauge = table.columns[column].kind == ColumnKind::Gauge;
        let stride = next() as usize;
        let known = (first_edge + next() * 1_000, first_edge + next() * 1_000);
        let (first, bins, form) = (next() as usize, next() as usize, next());
        let mut values: Vec<i64> = Vec::new();
        let mut before = 0i64;
        for _ in 0..if form == 0 { 1 } else { bins } {
            let number = next();
            before = if gauge {
                before.wrapping_add(number)
            } else {
                number
            };
            values.push(before);
        }
        if form == 0 {
            values = vec![values[0]; bins];
        }
        let (mut low, mut high) = (values.clone(), values.clone());
        if form == 2 {
            for bin in 0..bins {
                let (a, b) = (next(), next());
                low[bin] = if gauge {
                    values[bin].wrapping_sub(a)
                } else {
                    a
                };
                high[bin] = if gauge {
                    values[bin].wrapping_add(b)
                } else {
                    a.wrapping_add(b)
                };
            }
        }
        let scaled = |numbers: Vec<i64>| -> Vec<i64> {
            numbers
                .into_iter()
                .map(|it| it.wrapping_mul(scale))
                .collect()
        };
        all.push(Bins {
            entity: entity as usize,
            column,
            stride,
            known,
            first,
            numbers: scaled(values),
            low: scaled(low),
            high: scaled(high),
        });
    }
    all
}

fn of_rows(table: &PageTable, numbers: &[i64]) -> Vec<Row> {
    let mut rest = numbers.iter().copied();
    let mut next = || rest.next().expect("the rows are whole");
    let mut at = 0;
    let rows = next();
    let mut all = Vec::new();
    for _ in 0..rows {
        at += next();
        let entity = next() as usize;
        let values = table.columns.iter().map(|column| {
            let known = next() == 1;
            known.then(|| next() * column.scale)
        });
        let values = values.collect();
        all.push(Row { at, entity, values });
    }
    assert_eq!(rest.next(), None);
    all
}

impl Found {
    /// Where a bin of a series begins and ends.
    pub(super) fn bin(&self, series: &Bins, index: usize) -> (i64, i64) {
        let edge = |bin: usize| self.edges[(bin * series.stride).min(self.edges.len() - 1)];
        let bin = series.first + index;
        (edge(bin), edge(bin + 1))
    }

    /// The series of a column, those of entities for which `of` holds.
    pub(super) fn series(
        &self,
        table: &str,
        column: &str,
        of: impl Fn(&model::PageEntity) -> bool,
    ) -> Vec<&Bins> {
        let about = self.page.tables.iter().find(|it| it.name == table);
        let place = about.and_then(|it| it.columns.iter().position(|it| it.name == column));
        let series = self.bins.get(table).into_iter().flatten();
        series
            .filter(|it| Some(it.column) == place && of(&self.page.entities[it.entity]))
            .collect()
    }

    /// How much counters grew over a window that begins and ends on edges.
    pub(super) fn growth(&self, all: &[&Bins], (from, to): (i64, i64)) -> i64 {
        let mut sum = 0;
        for series in all {
            for (index, number) in series.numbers.iter().enumerate() {
                let (start, end) = self.bin(series, index);
                if start >= from && end <= to {
                    sum += number;
                }
            }
        }
        sum
    }
}
