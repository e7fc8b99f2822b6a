//! Each question can be left out; what the others count is there all the same.

use sensors::wait_channel::WaitChannel;
use sensors::wait_event::WAL_WRITE;

use super::*;
use crate::bpf::fold::STATES;
use crate::bpf::psi_group::StallSource as _;

const PLACE: usize = 3;

/// Does what each question asks about, and returns the questions that are answered.
fn answered(thread_time: &mut ThreadTime) -> Vec<Question> {
    let membership = Membership {
        service: Some(PLACE),
        ..Membership::default()
    };
    let sleeper = Started::new(Command::new("sleep").arg("100"));
    std::thread::sleep(Duration::from_millis(100));
    let in_event = Assigned {
        role: Role::Target,
        place: None,
        statement: None,
        wait_event: WAL_WRITE,
        membership,
    };
    let sleeper_pid = sleeper.0.id();
    let assigned = thread_time.assign(sleeper_pid, in_event);
    assigned.expect("there is room");
    let mut server = statements::Server::new(Command::new("cat"));
    server.run(77);
    let assigned = thread_time.assign(server.pid(), server.assigned(membership));
    assigned.expect("there is room");
    thread_time.see_reads(1);
    as_target_within(thread_time, std::process::id(), membership);
    let file = OnDisk::new("questions", 16);
    // The addresses on a stack are named after the first time.
    by_itself(thread_time, || waits::read(file.path()));
    let (_, counted) = by_itself(thread_time, || {
        waits::read(file.path());
        waits::receive();
    });
    assert!(counted.of(&["input"]) > 0, "{}", counted.shown());
    server.wake();
    let mut statements = Vec::new();
    let read_statements = thread_time.statements(&mut StatementBuffer::default(), &mut statements);
    read_statements.expect("they can be read");
    assert!(counted.of(&["io_read_write"]) > 0, "{}", counted.shown());

    let has_site = |(site, ns): (&WaitChannel, i64)| *site != WaitChannel::Other && ns > 0;
    let mut sites = WAIT_SITES.iter().zip(counted.kernel_wait_ns);
    let asleep = read(thread_time, sleeper_pid).account;
    let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let own = read(thread_time, own).account;
    let mut wakeups = WakeupBuffer::default();
    let taken = thread_time.take_wakeups(&mut wakeups);
    taken.expect("they can be read");
    let mut readings = (0..thread_time.cpus()).filter_map(|cpu| thread_time.reading(PLACE, cpu));
    let answers = [
        (Question::WaitSite, sites.any(has_site)),
        (
            Question::WaitEvent,
            asleep.ns[ThreadTimeClass::Sleep as usize] == 0,
        ),
        (Question::Statement, statements.iter().any(|it| it.id == 77)),
        (Question::Wakers, wakeups.get(0).is_some()),
        // It waited for the thread that did these, in no request.
        (Question::Serving, own.outside_ns.iter().any(|ns| *ns > 0)),
        (
            Question::PsiGroup,
            readings.any(|reading| reading.ns[STATES - 1] > 0),
        ),
        (Question::WaitStack, thread_time.stack_counts().taken > 0),
    ];
    let answered = answers.into_iter().filter(|(_, is_answered)| *is_answered);
    answered.map(|(question, _)| question).collect()
}

#[test]
fn each_question_can_be_left_out() {
    let Some((thread_time, _alone)) = loaded() else {
        return;
    };
    drop(thread_time);
    let every_one = Question::ALL.to_vec();
    let but_one = Question::ALL.map(|left_out| {
        let asked = Question::ALL.into_iter().filter(|it| *it != left_out);
        asked.collect()
    });
    for asked in but_one.into_iter().chain([Vec::new(), every_one]) {
        let loaded = ThreadTime::load_for(std::env::consts::ARCH, &asked);
        let mut thread_time = loaded.expect("with all of them it loads");
        assert_eq!(answered(&mut thread_time), asked);
    }
}
