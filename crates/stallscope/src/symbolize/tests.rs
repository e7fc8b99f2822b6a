//! A program that is built here, stripped, and named again from its debugging information.

use std::process::Command;

use model::{EntityId, TableData, Timestamp, Window};

use super::*;

const PROGRAM: &str = "static __attribute__((always_inline)) inline int inlined(int a) { volatile int b = a; return b + 1; }
static __attribute__((noinline)) int hidden(int a) { return inlined(a) * 2; }
int main(int count, char **words) { return hidden(count); }
";

fn run(folder: &Path, command: &str) -> String {
    let out = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .output();
    let out = out.expect("a shell");
    assert!(out.status.success(), "{command}: {out:?}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// A timeline with a stack at an address of the stripped program.
fn timeline(program: &Path, build_id: &str, address: i64) -> Timeline {
    let at = Timestamp::from_ns;
    let mut timeline = Timeline::new(Window::new(at(0), at(9)));
    let path = program.to_str().expect("a plain path");
    for (id, (kind, parent, text)) in (0..).zip([
        (StringKind::Module, None, path),
        (StringKind::BuildId, Some(StringId(0)), build_id),
    ]) {
        assert!(timeline.strings.insert(Text {
            id: StringId(id),
            kind,
            parent,
            text: text.into(),
        }));
    }
    let mut stack = TableData::new(STACK.clone());
    stack.push(at(1), EntityId(0), &[0, MISSING, 0, address]);
    timeline.insert(stack);
    timeline
}

#[test]
fn a_stripped_program_is_named_from_its_debugging_information() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path();
    std::fs::write(folder.join("a.c"), PROGRAM).expect("written");
    run(
        folder,
        "cc -g -O2 -Wl,--build-id -o a a.c && mkdir debug && objcopy --only-keep-debug a debug/kept",
    );
    let address = run(folder, "nm a | awk '$3 == \"hidden\" {print $1}'");
    let address = i64::from_str_radix(address.trim(), 16).expect("an address");
    run(folder, "strip a");
    let file = std::fs::File::open(folder.join("a")).expect("it was built");
    let build_id = kernel::stacks::symbols::build_id_of(&file).expect("it has one");
    let mut timeline = timeline(&folder.join("a"), &build_id, address + 4);
    let code = files(&timeline).expect("it has stacks");
    let place = folder
        .join("debug")
        .join(code[0].by_build_id().expect("an id"));
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("made");
    std::fs::rename(folder.join("debug/kept"), &place).expect("moved");
    let name = |named: &[String]| {
        let mut sources = DebugFiles::new(named).expect("folders");
        match sources.find(&code[0]) {
            Found::File(place) => names(&place, &code[0]),
            Found::Nothing(why) => panic!("{why}"),
        }
    };
    assert_eq!(
        name(&[]),
        [Functions::new()],
        "the stripped file has no name"
    );
    let found = name(&[folder.join("debug").display().to_string()]);
    assert_eq!(found[0].first().map(String::as_str), Some("hidden"));
    add(&mut timeline, &[(&code[0], found)]);
    let stacks = analysis::stacks::Stacks::of(&timeline).expect("it has stacks");
    let frames = stacks.frames(0);
    assert_eq!(frames.last().and_then(|it| it.function), Some("hidden"));
}

#[test]
fn what_belongs_to_another_build_is_not_taken() {
    let home = tempfile::tempdir().expect("a folder");
    let file = CodeFile {
        id: StringId(0),
        path: "/bin/sh".to_owned(),
        build_id: Some("00".repeat(20)),
        addresses: vec![1],
    };
    let named = home.path().display().to_string();
    let mut sources = DebugFiles::new(&[named]).expect("a folder");
    let Found::Nothing(why) = sources.find(&file) else {
        panic!("another build was taken");
    };
    assert!(why.contains(&"00".repeat(20)), "{why}");
    let wrong = DebugFiles::new(&["/no/such".to_owned()])
        .err()
        .expect("it is none");
    assert!(
        wrong
            .to_string()
            .contains("there is no folder of that name"),
        "{wrong}"
    );
}
