//! The wait classes for C and TypeScript, made from the lists in Rust: `bpf/wait_classes.gen.h`,
//! `ui/src/data/waitClasses.gen.ts` and `ui/src/theme/waitClasses.gen.css`.
//! `UPDATE_EXPECT=1 cargo test -p sensors --test generated` writes them.

use std::fmt::{Debug, Write as _};

use expect_test::expect_file;
use model::{ClassState, LedgerClass, Look, ThreadTimeClass};
use sensors::kernel_wait::{IoIntent, KERNEL_WAIT, WAIT_SITES};
use sensors::thread_time::Holder;
use sensors::wakeup::By;

const MADE_BY: &str = "Made by `UPDATE_EXPECT=1 cargo test -p sensors --test generated`";

#[test]
fn the_header_of_the_kernel_programs_has_the_classes() {
    expect_file!["../../../bpf/wait_classes.gen.h"].assert_eq(&header());
}

#[test]
fn the_page_has_the_classes() {
    expect_file!["../../../ui/src/data/waitClasses.gen.ts"].assert_eq(&script());
    expect_file!["../../../ui/src/theme/waitClasses.gen.css"].assert_eq(&style());
}

/// An enum of C: `prefix` and the names of the variants, from 0; `last` counts them.
struct Enum<'a> {
    about: &'a str,
    name: &'a str,
    prefix: &'a str,
    /// What is 0 and has no variant.
    none: Option<&'a str>,
    last: &'a str,
}

impl Enum<'_> {
    fn of(&self, variants: &[impl Debug], help: impl Fn(usize) -> &'static str) -> String {
        let mut text = format!("\n{}enum {} {{\n", comment("", self.about), self.name);
        if let Some(none) = self.none {
            let _ = writeln!(text, "\t{}_{none},", self.prefix);
        }
        for (place, variant) in variants.iter().enumerate() {
            let name = in_capitals(&format!("{variant:?}"));
            text += &comment("\t", help(place));
            let _ = writeln!(text, "\t{}_{name},", self.prefix);
        }
        text + "\t" + self.last + "\n};\n"
    }
}

fn header() -> String {
    let no_help = |_: usize| "";
    let roles = Enum {
        about: "A process's role in the measurement; of a CPU, the role of the thread that has it, or \
                idle.",
        name: "thread_time_role",
        prefix: "THREAD_TIME",
        none: None,
        last: "THREAD_TIME_ROLES",
    };
    let calls = Enum {
        about: "I/O intent: what a thread in a kernel wait asked for, by its system call; a page fault \
                is in none.",
        name: "thread_time_call",
        prefix: "THREAD_TIME_CALL",
        none: Some("OTHER"),
        last: "THREAD_TIME_CALL_KINDS",
    };
    let classes = Enum {
        about: "Wait classes other than the wait for a CPU (`queued_ns`). Each ns of a thread is in \
                exactly one.",
        name: "thread_time_class",
        prefix: "THREAD_TIME",
        none: None,
        last: "THREAD_TIME_CLASSES",
    };
    let sites = Enum {
        about: "What a thread in a kernel wait waits for, by the kernel functions on its stack. The \
                first few are generic: for these a function further out on the stack decides, if it \
                is specific.",
        name: "wait_site",
        prefix: "WAIT_SITE",
        none: None,
        last: "WAIT_SITES",
    };
    let wakers = Enum {
        about: "What ended a wait: a target or generator thread, whose pool is `waker`; a thread of a \
                background process, which is `waker`; an interrupt or softirq; a kernel thread.",
        name: "wakeup_by",
        prefix: "WAKEUP_BY",
        none: Some("UNKNOWN"),
        last: "WAKEUP_BYS",
    };
    let of_class = |place: usize| ThreadTimeClass::ALL[place].help();
    let of_site = |place: usize| &*KERNEL_WAIT.columns[place].help;
    let enums = [
        roles.of(&Holder::ALL, no_help),
        calls.of(&IoIntent::ALL, no_help),
        classes.of(&ThreadTimeClass::ALL, of_class),
        sites.of(&WAIT_SITES, of_site),
        wakers.of(&By::ALL, no_help),
    ];
    let from = "from crates/model/src/wait_class.rs, and from kernel_wait.rs, thread_time.rs and \
                wakeup.rs in crates/sensors/src: change these instead.";
    format!(
        "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */\n{}\
         #ifndef STALLSCOPE_WAIT_CLASSES_GEN_H\n#define STALLSCOPE_WAIT_CLASSES_GEN_H\n{}\n#endif\n",
        comment("", &format!("{MADE_BY} {from}")),
        enums.concat()
    )
}

/// `KernelLock` as `KERNEL_LOCK`.
fn in_capitals(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_uppercase());
    }
    text
}

/// A comment of C in lines of at most 100 columns; nothing for an empty text.
fn comment(indent: &str, text: &str) -> String {
    const WIDTH: usize = 100;
    let room = WIDTH - indent.len() * 8 - 6;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= room => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    match text {
        "" => String::new(),
        _ => format!("{indent}/* {} */\n", lines.join(&format!("\n{indent} * "))),
    }
}

/// The classes of threads, with the way in which the page draws them.
fn drawn() -> impl Iterator<Item = (LedgerClass, Look)> {
    let classes = LedgerClass::ALL.into_iter();
    classes.filter_map(|class| Some((class, class.look()?)))
}

fn script() -> String {
    let rows = drawn().map(|(class, look)| {
        let state = match class.state() {
            ClassState::Running => "running",
            ClassState::Waiting => "waiting",
            ClassState::Withheld => "withheld",
            ClassState::Disk => "disk",
            ClassState::Blocked => "blocked",
            ClassState::Idle => "idle",
            ClassState::Unknown => "unknown",
            ClassState::Outside => panic!("{class:?} is no time of a thread's"),
        };
        let (word, label, rank) = (class.word(), look.label, look.rank);
        let (mark, ink) = (look.paint.mark, look.paint.ink);
        let help = class.help();
        format!(
            "  // {help}\n  [\"{word}\", \"{label}\", \"{state}\", {rank}, \"{mark}\", \"{ink}\"],\n"
        )
    });
    format!(
        "// {MADE_BY}\n// from crates/model/src/wait_class.rs: change that instead.\n\n\
         /** The classes of a thread's time: word, label, state, place in a bar, mark and its colour. */\n\
         export const WAIT_CLASSES = [\n{}] as const;\n",
        rows.collect::<String>()
    )
}

fn style() -> String {
    let rows = drawn().map(|(class, look)| {
        let [light, dark] = look.paint.fill;
        let name = class.word().replace('_', "-");
        format!("  --class-{name}: light-dark({light}, {dark});\n")
    });
    format!(
        "/* {MADE_BY}\n   from crates/model/src/wait_class.rs: change that instead. */\n:root {{\n{}}}\n",
        rows.collect::<String>()
    )
}
