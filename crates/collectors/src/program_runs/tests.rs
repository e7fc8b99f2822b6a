use kernel::bpf::processes::Kind;

use super::*;

const SECOND: u64 = 1_000_000_000;
/// Nobody here has a process with such a number, so nothing of it is read from /proc.
const PID: u32 = 4_194_400;
const PARENT: u32 = PID + 1;

fn event(kind: Kind, at_ns: u64) -> Event<'static> {
    Event {
        kind,
        pid: PID,
        start_ns: 10 * SECOND,
        at_ns,
        cpu_ns: 0,
        parent: PARENT,
        parent_start_ns: 1,
        status: 0,
        comm: b"tool",
        path: b"",
        arguments: b"",
        is_cut: false,
    }
}

fn exec(at_ns: u64, cpu_ns: u64, arguments: &'static [u8]) -> Event<'static> {
    Event {
        cpu_ns,
        path: b"/bin/tool",
        arguments,
        ..event(Kind::Exec, at_ns)
    }
}

fn ended(kind: Kind, at_ns: u64, cpu_ns: u64, status: u32) -> Event<'static> {
    Event {
        cpu_ns,
        status,
        ..event(kind, at_ns)
    }
}

/// What becomes of events, in words; programs attached at 5 s, and the recording ends at 100 s.
fn written(events: &[Event<'_>]) -> Vec<String> {
    let mut out = Output::default();
    let mut state = State::new(5 * SECOND);
    for event in events {
        state.take(event, Some(EntityId(7)), &mut out);
    }
    let mut runs = Vec::new();
    let end = Timestamp::from_ns(100_000_000_000);
    state.write(end, |it| runs.push(it.clone()));
    state.finish(end, false, |it| runs.push(it.clone()));
    let texts = out.strings.take_fresh().unwrap_or_default();
    let text = |number: i64| match usize::try_from(number) {
        Ok(at) => texts[at].text.replace('\0', " "),
        Err(_) => "-".to_owned(),
    };
    let number = |value: i64| match value {
        MISSING => "-".to_owned(),
        value => value.to_string(),
    };
    let row = |run: &Ended| {
        let [
            pid,
            parent,
            exec,
            command,
            _,
            file,
            duration,
            cpu,
            end,
            status,
        ] = run.row();
        assert_eq!((pid, parent), (PID.into(), PARENT.into()));
        let [exec, duration, cpu, end, status] = [exec, duration, cpu, end, status].map(number);
        let [command, file] = [command, file].map(text);
        format!("exec {exec}: {command} ({file}) {duration} ns, {cpu} ns CPU, end {end} {status}")
    };
    runs.iter().map(row).collect()
}

#[test]
fn a_program_runs_from_the_start_of_its_process_with_all_of_its_cpu_time() {
    let start = 10 * SECOND;
    let events = [
        event(Kind::Fork, start),
        exec(start + 300, 20, b"tool\0--fast\0"),
        ended(Kind::Exit, start + 1_000, 400, 3 << 8),
        ended(Kind::Free, start + 9_000, 600, 0),
    ];
    let whole = "exec 1: tool --fast (/bin/tool) 1000 ns, 600 ns CPU, end 0 3";
    assert_eq!(written(&events), [whole]);
    let not_waited_for = whole.replace("600 ns CPU", "400 ns CPU");
    assert_eq!(written(&events[..3]), [not_waited_for]);
    let runs = "exec 1: tool --fast (/bin/tool) 90000000000 ns, - ns CPU, end 3 -";
    assert_eq!(written(&events[..2]), [runs]);
    // Where the fork was lost, the process is known all the same.
    assert_eq!(written(&events[1..]), [whole]);
}

#[test]
fn a_second_program_has_a_run_of_its_own_and_a_second_exit_none() {
    let start = 10 * SECOND;
    let events = [
        event(Kind::Fork, start),
        exec(start + 100, 20, b"sh\0"),
        exec(start + 400, 50, b"tool\0"),
        ended(Kind::Exit, start + 1_000, 400, 9),
        ended(Kind::Exit, start + 1_001, 300, 9),
        ended(Kind::Free, start + 9_000, 600, 0),
    ];
    let expected = [
        "exec 1: sh (/bin/tool) 400 ns, 50 ns CPU, end 2 -",
        "exec 1: tool (/bin/tool) 600 ns, 550 ns CPU, end 1 9",
    ];
    assert_eq!(written(&events), expected);
}

#[test]
fn copies_and_processes_from_before_are_listed_when_they_end() {
    let start = 10 * SECOND;
    let copy = [
        event(Kind::Fork, start),
        ended(Kind::Exit, start + 1_000, 400, 0),
        ended(Kind::Free, start + 9_000, 600, 0),
    ];
    let row = "exec 0: - (-) 1000 ns, 600 ns CPU, end 0 0";
    assert_eq!(written(&copy), [row], "its parent is not known here");
    let before = |event: &Event<'static>| Event {
        start_ns: 4 * SECOND,
        ..*event
    };
    let old = [before(&copy[1]), before(&copy[2])];
    let row = "exec -: tool (-) 6000001000 ns, 600 ns CPU, end 0 0";
    assert_eq!(written(&old), [row]);
    let started = before(&exec(start, 350, b"tool\0x\0"));
    let row = "exec 1: tool x (/bin/tool) 1000 ns, 250 ns CPU, end 0 0";
    assert_eq!(written(&[started, old[0], old[1]]), [row]);
}

#[test]
fn arguments_that_are_cut_or_missing_leave_the_program() {
    let start = 10 * SECOND;
    let cut = Event {
        is_cut: true,
        ..exec(start, 0, b"tool\0-f\0half-a-w")
    };
    let without = exec(start, 0, b"");
    let only = Event {
        is_cut: true,
        ..exec(start, 0, b"a-program-whose-name-is-cut")
    };
    let commands = [cut, without, only].map(|exec| written(&[exec])[0].clone());
    let starts = ["tool -f ... (", "/bin/tool (", "/bin/tool ("];
    for (command, start) in commands.iter().zip(starts) {
        assert!(
            command.starts_with(&format!("exec 1: {start}")),
            "{command}"
        );
    }
}

#[test]
fn runs_wait_for_their_cpu_time_and_are_written_in_the_order_of_their_ends() {
    let mut runs = Runs::default();
    let start = 10 * SECOND;
    let exit = |pid, at_ns| Event {
        pid,
        ..ended(Kind::Exit, at_ns, 1, 0)
    };
    for (pid, at_ns) in [(2, start + 5), (1, start), (3, start + 9)] {
        runs.end(Ended::exited(Running::new(start), &exit(pid, at_ns)));
    }
    let pids = |runs: &mut Runs, now_ns| {
        let mut pids = Vec::new();
        runs.write(now_ns, |it| pids.push(it.pid));
        pids
    };
    let free = |pid| Event {
        pid,
        ..ended(Kind::Free, start + 10, 2, 0)
    };
    runs.release(&free(1));
    assert_eq!(
        pids(&mut runs, start + 100),
        [0_u32; 0],
        "others may come before"
    );
    assert_eq!(pids(&mut runs, start + SECOND / 2), [1]);
    runs.release(&free(3));
    assert_eq!(
        pids(&mut runs, start + SECOND / 2),
        [0_u32; 0],
        "2 is first"
    );
    assert_eq!(pids(&mut runs, start + 2 * SECOND), [2, 3]);
}
