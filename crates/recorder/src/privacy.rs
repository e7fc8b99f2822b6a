//! What is written down of words that other people chose: without what was secret on a command line.
//!
//! Everything that a recording says in words passes here before it is written, so that a secret that was
//! hidden on the command line is not told by an error message or by a title.

use std::ffi::OsString;

use model::{EntityEvent, EntityKind, Meta, Outcome, Part, StringKind, Summary, Text};
use sensors::flow::{FlowName, Peer};
use workloads::{Secrets, redact, redact_text};

/// Knows the secrets of this run.
#[derive(Clone)]
pub(super) struct Privacy(Secrets);

impl Privacy {
    /// From this program's command line, with that of the workload, and its environment, which the
    /// workload inherits.
    pub(super) fn of(argv: &[OsString]) -> Self {
        let text = |(name, value): (OsString, OsString)| {
            let value = value.to_string_lossy().into_owned();
            (name.to_string_lossy().into_owned(), value)
        };
        let environment: Vec<(String, String)> = std::env::vars_os().map(text).collect();
        let pairs = environment.iter().map(|(name, value)| (&**name, &**value));
        Self(Secrets::of(argv, pairs))
    }

    /// What may be stored of a recording's description.
    pub(super) fn meta(&self, mut meta: Meta) -> Meta {
        redact_again(&mut meta);
        for target in &mut meta.targets {
            target.name = self.title(&target.name);
        }
        for sentence in meta.sentences_mut() {
            // The program's own words are no secret, even where a password is one of them.
            for part in sentence.parts_mut() {
                match part {
                    Part::Own(_) => {}
                    // A program is called what it is called, even where a user or a password is named after it.
                    Part::Name { kind, name } if is_title(*kind) => *name = self.title(name),
                    Part::Name { name, .. } => *name = self.0.hide(name),
                    Part::Foreign { foreign } => *foreign = self.text(foreign),
                }
            }
        }
        if let Some(workload) = &mut meta.workload {
            workload
                .signals
                .iter_mut()
                .for_each(|text| *text = self.text(text));
            if let Some(outcome) = &mut workload.outcome {
                self.outcome(outcome);
            }
        }
        meta
    }

    fn outcome(&self, outcome: &mut Outcome) {
        for complaint in &mut outcome.complaints {
            complaint.message = self.text(&complaint.message);
        }
        if let Some(Summary {
            version,
            transaction_type,
            scripts,
            ..
        }) = &mut outcome.summary
        {
            let texts = version.iter_mut().chain(transaction_type);
            texts.for_each(|text| *text = self.0.hide(text));
            for script in scripts {
                script.name = self.text(&script.name);
            }
        }
    }

    /// Changes of entities: programs and threads may call themselves after their command line.
    pub(super) fn entities(&self, events: &mut [EntityEvent]) {
        for event in events {
            let entity = &mut event.record.entity;
            if matches!(
                entity.kind,
                EntityKind::Series | EntityKind::LogTemplate | EntityKind::Statement
            ) {
                // Labels may hold whatever the program was told, and so may the words of a log or a statement.
                entity.name = self.0.hide(&entity.name);
                entity.path = self.0.hide(&entity.path);
            }
            if entity.kind == EntityKind::Workload && event.record.parent.is_some() {
                // A label may be a URL, with what stands in it.
                entity.name = self.text(&entity.name);
            }
            if is_title(entity.kind) {
                entity.name = self.title(&entity.name);
            }
            if entity.kind == EntityKind::Flow
                && let Some(mut flow) = FlowName::parse(&entity.name)
            {
                flow.process = self.title(&flow.process);
                if let Peer::Path(path) = &mut flow.peer {
                    *path = self.0.hide(path);
                }
                entity.name = flow.to_string();
            }
        }
    }

    /// Texts that rows refer to. Code is called what it is called; a command line is not.
    pub(super) fn strings(&self, texts: &mut [Text]) {
        for text in texts {
            match text.kind {
                StringKind::Module | StringKind::BuildId | StringKind::Function => {}
                StringKind::Command => text.text = self.command(&text.text).into(),
            }
        }
    }

    /// A command line of any process, as the kernel shows it: its words end in zero bytes.
    fn command(&self, line: &str) -> String {
        let words = line.trim_end_matches('\0').split('\0');
        let words: Vec<OsString> = words.map(OsString::from).collect();
        self.0.hide(&redact(&words).join(" "))
    }

    fn text(&self, text: &str) -> String {
        redact_text(&self.0.hide(text))
    }

    /// What a program or a thread calls itself: where that is one word, it was there before any secret.
    fn title(&self, name: &str) -> String {
        match name.contains([' ', '=', '@', ':']) {
            true => self.name(name),
            false => name.to_owned(),
        }
    }

    /// The name of a process or thread: some show options in it, of which the kernel keeps 15 bytes.
    fn name(&self, name: &str) -> String {
        let hidden = self.text(name);
        let words: Vec<OsString> = hidden.split(' ').map(OsString::from).collect();
        let is_option = |word: &OsString| {
            let rest = word.to_str().and_then(|word| word.strip_prefix('-'));
            rest.is_some_and(|rest| rest.starts_with(|c: char| c == '-' || c.is_alphabetic()))
        };
        match words.iter().skip(1).any(is_option) {
            true => redact(&words).join(" "),
            false => hidden,
        }
    }
}

/// Whether such an entity is called, or may be, as a program calls itself.
fn is_title(kind: EntityKind) -> bool {
    matches!(
        kind,
        EntityKind::Process
            | EntityKind::Thread
            | EntityKind::Pool
            | EntityKind::Waker
            // Called after a process, among others.
            | EntityKind::BlockStream
    )
}

/// Hides what an older version left in the command lines of a recording.
pub fn redact_again(meta: &mut Meta) {
    let again = |words: &mut Vec<String>| {
        let stored: Vec<OsString> = words.iter().map(OsString::from).collect();
        *words = redact(&stored);
    };
    again(&mut meta.plan.typed);
    if let Some(workload) = &mut meta.workload {
        again(&mut workload.command);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Entity, EntityId, EntityRecord, Timestamp};

    fn named(name: &str) -> String {
        let argv = ["x", "-a", "hunter2"].map(OsString::from);
        let privacy = Privacy(Secrets::of(&argv, std::iter::empty()));
        let entity = Entity::new(EntityKind::Process, name, "pid:1@1");
        let mut events = [EntityEvent {
            time: Timestamp::default(),
            record: EntityRecord::new(EntityId(0), entity, Timestamp::default()),
        }];
        privacy.entities(&mut events);
        events[0].record.entity.name.clone()
    }

    #[test]
    fn a_program_keeps_its_name_where_a_user_is_named_after_it() {
        let argv = ["record", "--postgres", "postgresql://postgres:hunter2@h/db"];
        let privacy = Privacy(Secrets::of(&argv.map(OsString::from), std::iter::empty()));
        assert_eq!(privacy.title("postgres"), "postgres");
        assert_eq!(privacy.title("job hunter2"), "job ***");
    }

    #[test]
    fn a_command_line_of_another_process_loses_its_secrets() {
        let argv = ["record", "-a", "hunter2"].map(OsString::from);
        let privacy = Privacy(Secrets::of(&argv, std::iter::empty()));
        let text = |kind, text: &str| Text {
            id: model::StringId(0),
            kind,
            parent: None,
            text: text.into(),
        };
        let mut texts = [
            text(StringKind::Command, "mysql\0-pZq123\0-h\0db7\0"),
            text(StringKind::Command, "sh\0-c\0echo hunter2\0"),
            text(StringKind::Function, "hunter2"),
        ];
        privacy.strings(&mut texts);
        let texts = texts.map(|text| text.text);
        assert_eq!(
            texts.each_ref().map(|it| &**it),
            ["mysql -p*** -h db7", "sh -c echo ***", "hunter2"]
        );
    }

    #[test]
    fn titles_lose_what_is_secret_and_servers_keep_theirs() {
        for (title, expected) in [
            ("x -a hunter2", "x -a ***"),
            ("y --key Zq123", "y --key ***"),
            ("job hunter2", "job ***"),
            ("w u:p@h", "w ***@h"),
        ] {
            assert_eq!(named(title), expected);
        }
        for title in [
            "postgres",
            "postgres: bench bench [local] SELECT",
            "nginx: worker process",
            "C2 CompilerThre",
            "GC Thread#0",
            "kworker/u4:2-flush-254:0",
            "(sd-pam)",
        ] {
            assert_eq!(named(title), title);
        }
    }
}
