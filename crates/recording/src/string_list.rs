//! The file of the texts that rows refer to.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::UInt32Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use model::{StringId, StringKind, Strings, Text};

use crate::journal::{JournalText, Record};
use crate::list_file::{self, Item};
use crate::schema;

impl Item for Text {
    const NAME: &'static str = "strings";

    fn schema() -> Schema {
        schema::of_list(vec![
            Field::new("id", DataType::UInt32, false),
            Field::new("kind", DataType::Utf8, false),
            Field::new("parent", DataType::UInt32, true),
            Field::new("text", DataType::Utf8, false),
        ])
    }

    /// A segment has the texts that its rows refer to, with the numbers of the whole recording.
    fn check(&self, _number: usize) -> Result<(), String> {
        let Text {
            id, parent, text, ..
        } = self;
        if id.0 as usize >= Strings::MAX {
            return Err(format!(
                "string number {} is above the most that there can be, {}",
                id.0,
                Strings::MAX
            ));
        }
        if let Some(parent) = parent.filter(|parent| parent >= id) {
            let (id, parent) = (id.0, parent.0);
            return Err(format!("string {id} stands before its parent, {parent}"));
        }
        match text.len() {
            bytes if bytes > Strings::MAX_BYTES => Err(format!(
                "string {} has {bytes} bytes of {}",
                id.0,
                Strings::MAX_BYTES
            )),
            _ => Ok(()),
        }
    }

    fn words_bytes(&self) -> usize {
        self.text.len()
    }

    fn encode(texts: &[Self]) -> Vec<ArrayRef> {
        let words = |word: fn(&Text) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(texts.iter().map(word)))
        };
        let parents = texts.iter().map(|text| text.parent.map(|id| id.0));
        vec![
            Arc::new(UInt32Array::from_iter_values(
                texts.iter().map(|text| text.id.0),
            )),
            words(|text| text.kind.word()),
            Arc::new(parents.collect::<UInt32Array>()),
            words(|text| &text.text),
        ]
    }
}

/// A text as a journal's record holds it.
pub(crate) fn words_of(text: &Text) -> JournalText<'_> {
    JournalText {
        id: text.id.0,
        kind: text.kind.word().into(),
        parent: text.parent.map(|id| id.0),
        text: (&*text.text).into(),
    }
}

/// The list being read.
#[derive(Default)]
pub(crate) struct StringRows {
    /// The texts so far.
    pub(crate) strings: Strings,
    rows: usize,
}

impl StringRows {
    /// Takes a batch of texts: all of them or, with a reason, none.
    pub(crate) fn take(&mut self, batch: &RecordBatch) -> Result<(), String> {
        self.take_texts(decode(batch)?)
    }

    /// Takes those texts of a journal's record that the file lacks.
    pub(crate) fn take_record(&mut self, record: &Record) -> Result<(), String> {
        let part = &record.strings;
        let new = list_file::lacking(self.rows, part.first, &part.texts, "strings")?;
        let texts = new.iter().map(|words| {
            Ok(Text {
                id: StringId(words.id),
                kind: kind_of(&words.kind)?,
                parent: words.parent.map(StringId),
                text: (&*words.text).into(),
            })
        });
        self.take_texts(texts.collect::<Result<_, String>>()?)
    }

    fn take_texts(&mut self, texts: Vec<Text>) -> Result<(), String> {
        for (number, text) in (self.rows + 1..).zip(&texts) {
            text.check(number)?;
        }
        self.rows += texts.len();
        for text in texts {
            // One that comes again says nothing new.
            self.strings.insert(text);
        }
        Ok(())
    }
}

/// The file's format; refuses one that lacks a column.
pub(crate) fn check_schema(found: &Schema) -> Result<u32, String> {
    list_file::check_schema::<Text>(found, |_, _| true)
}

fn decode(batch: &RecordBatch) -> Result<Vec<Text>, String> {
    let column = |name: &str| {
        let column = batch.column_by_name(name);
        column.ok_or_else(|| format!("it lacks {name}"))
    };
    let words = |name| column(name).map(|column| column.as_string::<i32>());
    let numbers = |name| column(name).map(|column| column.as_primitive::<UInt32Type>());
    let (ids, parents) = (numbers("id")?, numbers("parent")?);
    let (kinds, texts) = (words("kind")?, words("text")?);
    let text = |row: usize| {
        Ok(Text {
            id: StringId(ids.value(row)),
            kind: kind_of(kinds.value(row))?,
            parent: parents.is_valid(row).then(|| StringId(parents.value(row))),
            text: texts.value(row).into(),
        })
    };
    (0..batch.num_rows()).map(text).collect()
}

fn kind_of(word: &str) -> Result<StringKind, String> {
    let known = StringKind::ALL.into_iter().find(|kind| kind.word() == word);
    known.ok_or_else(|| format!("{word:?} is no kind of string"))
}
