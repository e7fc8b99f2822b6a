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
    /// The frames of each node of the tree of stacks, from the process to the innermost.
    pub(super) stacks: Vec<Vec<String>>,
    pub(super) samples: Vec<Sample>,
    pub(super) waits: Vec<Waits>,
    /// The same of the recording to compare with.
    pub(super) against: (Vec<Sample>, Vec<Waits>),
}

/// Samples that are alike.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) bin: usize,
    pub(super) stack: usize,
    pub(super) end: i64,
    pub(super) samples: i64,
    pub(super) cpu_ns: i64,
}

/// Waits that are alike, together.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) bin: usize,
    pub(super) stack: usize,
    pub(super) end: i64,
    pub(super) waits: i64,
    pub(super) ns: i64,
    pub(super) deviation_ns: i64,
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
    let (mut stacks, mut samples, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let mut against = (Vec::new(), Vec::new());
    for table in &page.tables {
        let name = table.name.clone();
        match table.form {
            PageForm::Rows => drop(rows.insert(name, of_rows(table, &block(table.block)))),
            PageForm::Bins { .. } => {
                bins.insert(name, of_bins(table, edges[0], &block(table.block)));
            }
            PageForm::Stacks => {
                stacks = of_stacks(&unpacked(&elements[&format!("block-{}", table.block)]));
            }
            PageForm::Samples { .. } => {
                let to = match name.starts_with("against_") {
                    true => &mut against.0,
                    false => &mut samples,
                };
                *to = of_samples(&block(table.block));
            }
            PageForm::Waits { .. } => {
                let to = match name.starts_with("against_") {
                    true => &mut against.1,
                    false => &mut waits,
                };
                *to = of_waits(&block(table.block));
            }
        }
    }
    assert_eq!(elements.len(), page.tables.len() + 2);
    Found {
        page,
        edges,
        bins,
        rows,
        stacks,
        samples,
        waits,
        against,
    }
}

fn unpacked(base64: &str) -> Vec<u8> {
    let packed = BASE64_STANDARD.decode(base64).expect("base64");
    let mut bytes = Vec::new();
    let mut stream = GzDecoder::new(packed.as_slice());
    stream.read_to_end(&mut bytes).expect("a gzip stream");
    bytes
}

fn numbers(base64: &str) -> Vec<i64> {
    let bytes = unpacked(base64);
    let mut rest = &bytes[..];
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        numbers.push(number(&mut rest));
    }
    numbers
}

/// The number that bytes begin with, which is taken from them.
fn number(bytes: &mut &[u8]) -> i64 {
    let (mut zigzag, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("the number is whole");
        *bytes = rest;
        zigzag |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            return (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        }
    }
}

fn text(bytes: &mut &[u8]) -> String {
    let length = number(bytes) as usize;
    let (text, rest) = bytes.split_at(length);
    *bytes = rest;
    String::from_utf8(text.to_owned()).expect("UTF-8")
}

fn of_stacks(mut bytes: &[u8]) -> Vec<Vec<String>> {
    let rest = &mut bytes;
    let modules: Vec<String> = (0..number(rest)).map(|_| text(rest)).collect();
    let frames: Vec<String> = (0..number(rest))
        .map(|_| {
            let (kind, of) = (number(rest), number(rest));
            assert!(kind == 0 || (kind == 3 && of == -1) || modules.get(of as usize).is_some());
            text(rest)
        })
        .collect();
    let mut nodes: Vec<Vec<String>> = Vec::new();
    for node in 0..number(rest) as usize {
        let (above, frame) = (number(rest) as usize, number(rest) as usize);
        let mut path = match above {
            0 => Vec::new(),
            above => nodes[node - above].clone(),
        };
        path.push(frames[frame].clone());
        nodes.push(path);
    }
    assert!(rest.is_empty());
    nodes
}

fn of_samples(numbers: &[i64]) -> Vec<Sample> {
    let rows = in_rows(numbers).into_iter();
    rows.map(|[bin, stack, end, samples, cpu_ns]| Sample {
        bin: bin as usize,
        stack: stack as usize,
        end,
        samples,
        cpu_ns,
    })
    .collect()
}

fn of_waits(numbers: &[i64]) -> Vec<Waits> {
    let rows = in_rows(numbers).into_iter();
    rows.map(|[bin, stack, end, waits, ns, deviation_ns]| Waits {
        bin: bin as usize,
        stack: stack as usize,
        end,
        waits,
        ns,
        deviation_ns,
    })
    .collect()
}

/// Rows whose columns stand one after the other, each number as the difference from the one of the row before.
fn in_rows<const N: usize>(numbers: &[i64]) -> Vec<[i64; N]> {
    let rows = numbers[0] as usize;
    assert_eq!(numbers.len(), 1 + N * rows);
    let mut all = vec![[0; N]; rows];
    for column in 0..N {
        let mut before = 0i64;
        for (row, difference) in all.iter_mut().zip(&numbers[1 + column * rows..]) {
            before = before.wrapping_add(*difference);
            row[column] = before;
        }
    }
    all
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
