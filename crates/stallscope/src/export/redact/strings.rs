//! The texts that rows refer to: what code is called.

use model::{StringKind, Text};

use super::pseudonyms::Class;
use super::{Redactor, text};

impl Redactor {
    /// A text as it may leave. Functions and files of code are names of programs; where a file lies is not.
    pub(super) fn string(&mut self, text: Text) -> Text {
        let public = match text.kind {
            StringKind::Module => self.module(&text.text),
            StringKind::Function | StringKind::BuildId if self.programs => text.text.to_string(),
            StringKind::Function => self.names.of(Class::Function, &text.text),
            // It says exactly which program this is.
            StringKind::BuildId | StringKind::Command => self.withhold(&text.text),
        };
        Text {
            text: public.into(),
            ..text
        }
    }

    fn module(&mut self, path: &str) -> String {
        // The kernel and code without a file.
        if !path.starts_with('/') {
            return path.to_owned();
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = text::path(&mut self.names, Class::Folder, folder);
        match self.programs {
            true => format!("{folder}/{name}"),
            false => format!("{folder}/{}", self.names.of(Class::Program, name)),
        }
    }
}
