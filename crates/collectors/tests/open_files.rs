//! Open files, from end to end: a child of this process opens some, of as many as it may.

use std::fs::File;
use std::process::{Child, Command as Program, Stdio};
use std::time::Duration;

use collectors::{Command, Sampler, SamplerEvent, Settings};
use kernel::environment;
use kernel::requirement::skipped;
use model::Role;

/// Long enough for a reading each second, however the machine is shared.
const MOST_TICKS: u32 = 3_000;

/// Ends the child when the test does.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A shell that may have 64 files open and opens the descriptors 10 to 17.
fn opens_some() -> Ended {
    let script = "ulimit -n 64; for at in 10 11 12 13 14 15 16 17; do eval \"exec $at</dev/null\"; done; \
                  echo ready; read line";
    let mut shell = Program::new("bash");
    shell.args(["-c", script]);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    Ended(shell.spawn().expect("bash is there"))
}

#[test]
fn open_files_of_a_process_are_counted_of_those_that_it_may_have() {
    let mut child = opens_some();
    let mut ready = [0; 6];
    let said = child.0.stdout.as_mut().expect("its output is a pipe");
    std::io::Read::read_exact(said, &mut ready).expect("it says so");
    let pid = child.0.id();
    let there = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("the child lives");
    let there = there.count() as i64;

    let settings = Settings::default();
    let environment = environment(&settings.root);
    let (mut sampler, commands, _spare) =
        Sampler::new(&settings, &environment).expect("/proc is readable");
    let (pids, role) = (vec![pid], Role::Target);
    commands
        .send(Command::Assign { pids, role })
        .expect("the sampler lives");
    let (mut read, mut why_not) = (None, None);
    for _ in 0..MOST_TICKS {
        sampler.step(&mut |event| match event {
            SamplerEvent::Rows(table, rows) if table.name == "open_files" => {
                read = rows.iter().last().map(|(_, _, it)| [it[0], it[1]]);
            }
            SamplerEvent::Gap(gap) if gap.table == "open_files" => {
                why_not = Some(gap.reason.to_string());
            }
            _ => {}
        });
        std::thread::sleep(Duration::from_millis(10));
        if read.is_some() || why_not.is_some() {
            break;
        }
    }
    let counts = File::open("/proc/self/fd")
        .and_then(|it| it.metadata())
        .is_ok_and(|it| it.len() > 0);
    if !counts {
        let said = why_not.expect("the recording says why there is none");
        assert!(said.contains("Linux 6.2"), "{said}");
        skipped("open files of a process", said);
        return;
    }
    assert_eq!((why_not, read), (None, Some([there, 64])));
}
