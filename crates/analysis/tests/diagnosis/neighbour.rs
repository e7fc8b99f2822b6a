//! `cpu.neighbour`: leads when somebody else holds the CPUs that the target waits for.

use expect_test::expect;
use model::{Answer, Confidence, EntityKind, Report, Role};

use crate::drawing::{drawn, headline, judged, said, told};

/// One and a half of two CPUs are used by a group beside the target.
pub const NEIGHBOUR: &str = "
    cpus 2  clients 4
    busy      ####################
    run x4    11111111111111111111
    wait      66666666666666666666
    gen       11111111111111111111
    rest      ####################  /batch
    rest      55555555555555555555  /batch
    throttled 00000000000000000000  /server
    memory    00000000000000000000
    tps       22222222222222222222
";

#[test]
fn leads_and_names_the_group() {
    let report = drawn(NEIGHBOUR).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "cpu.neighbour");
    assert_eq!(finding.entity.path, "/batch");
    assert_eq!(finding.confidence, Confidence::Consistent);
    expect![[r#"
        cpu.neighbour | cgroup batch | consistent | 0.450 (0.450 to 0.450)
        A neighbour holds the CPU: cgroup /batch used 75 % of the CPU time, and 60 % of each request was server waiting for one.
        helps: batch elsewhere, or with less weight: +147 % to +163 % by waits removed, closed loop (it takes 75 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
}

#[test]
fn names_the_process_where_no_group_stands_for_it() {
    let text = NEIGHBOUR
        .replace("55555555555555555555  /batch", "55555555555555555555")
        .replace("####################  /batch", "####################");
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).entity.kind, EntityKind::Process);
    expect![[r#"
        cpu.neighbour | process other1 | consistent | 0.450 (0.450 to 0.450)
        A neighbour holds the CPU: process other1 used 50 % of the CPU time, and 60 % of each request was server waiting for one.
        helps: other1 elsewhere, or with less weight: +125 % to +163 % by waits removed, closed loop (it takes 50 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --without '^other1$'
    "#]].assert_eq(&told(&report));
}

/// What has started everybody holds what everybody does, and is nobody's neighbour.
#[test]
fn who_started_the_target_too_is_not_named_for_what_another_child_did() {
    let text = NEIGHBOUR
        .replace("55555555555555555555  /batch", "22222222222222222222")
        .replace("####################  /batch", "66666666666666666666");
    let mut run = drawn(&text);
    let shell = run
        .timeline
        .entities
        .iter()
        .find(|it| it.entity.name == "shell");
    let shell = shell.expect("others have a parent").id;
    // Nobody alone holds half of what others did: the parent of both is named, as long as it is not the target's too.
    expect!["present: A neighbour holds the CPU: process shell used 40 % of the CPU time, and 60 % of each request was server waiting for one."]
        .assert_eq(&said(&run.diagnose(), "cpu.neighbour"));
    let targets = run.timeline.entities.iter_mut();
    targets
        .filter(|it| it.entity.name == "server")
        .for_each(|it| it.parent = Some(shell));
    expect!["cannot tell: others used 75 % of the CPU time, but none stands out: other1, the busiest that was seen, used 30 %"].assert_eq(&said(&run.diagnose(), "cpu.neighbour"));
}

#[test]
fn is_absent_when_others_hold_a_little_less_than_half() {
    let text = NEIGHBOUR
        .replace(
            "55555555555555555555  /batch",
            "00000000000000000000  /batch",
        )
        .replace(
            "gen       11111111111111111111",
            "gen       77777777777777777777",
        )
        .replace(
            "rest      ####################",
            "rest      99999999999999999999",
        );
    let report = drawn(&text).diagnose();
    expect!["absent: others used only 45 % of the CPU time"]
        .assert_eq(&said(&report, "cpu.neighbour"));
}

#[test]
fn is_absent_when_there_was_room_beside_the_others() {
    let text = NEIGHBOUR.replace(
        "busy      ####################",
        "busy      98989898989898989898",
    );
    expect!["absent: the CPUs were 85 % busy: there was room beside the others"]
        .assert_eq(&said(&drawn(&text).diagnose(), "cpu.neighbour"));
}

#[test]
fn is_absent_when_the_target_hardly_waits() {
    let text = NEIGHBOUR.replace(
        "wait      66666666666666666666",
        "wait      10111111111111111111",
    );
    expect!["absent: server waited for a CPU for only 9.5 % of each request"]
        .assert_eq(&said(&drawn(&text).diagnose(), "cpu.neighbour"));
}

#[test]
fn nobody_is_blamed_who_holds_a_small_part_of_what_the_others_hold() {
    // Interrupts, or processes that lived between two looks, hold the CPU: one was seen with a tenth.
    let text = NEIGHBOUR
        .replace(
            "rest      ####################  /batch",
            "rest      00000000000000000000",
        )
        .replace(
            "rest      55555555555555555555  /batch",
            "rest      11111111111111111111",
        );
    let report = drawn(&text).diagnose();
    assert_eq!(judged(&report, "cpu.neighbour").answer, Answer::CannotTell);
    expect![[r#"
        cannot tell: others used 75 % of the CPU time, but none stands out: other2, the busiest that was seen, used 5 %
        Undetermined: 60 % of each request was server: waiting for a CPU, and no cause that this version judges explains it."#]].assert_eq(&format!(
        "{}\n{}",
        said(&report, "cpu.neighbour"),
        headline(&report).sentence
    ));
}

#[test]
fn is_right_on_what_is_covered() {
    for (from, to) in [
        (
            "busy      ####################",
            "busy ---------###########",
        ),
        (
            "busy      ####################",
            "busy ##---------#########",
        ),
        (
            "rest      ####################",
            "rest ##---------#########",
        ),
    ] {
        let report = drawn(&NEIGHBOUR.replace(from, to)).diagnose();
        let finding = headline(&report);
        assert_eq!(finding.cause, "cpu.neighbour", "{to}");
        assert!(
            (finding.evidence[0].value - 0.75).abs() < 0.02,
            "{to}: {:?}",
            finding.evidence[0]
        );
    }
}

#[test]
fn cannot_be_told_without_the_cpus_or_without_the_others() {
    let mut sentences = String::new();
    for (from, to) in [
        (
            "busy      ####################",
            "busy --------------------",
        ),
        (
            "wait      66666666666666666666",
            "wait --------------------",
        ),
        (
            "run x4    11111111111111111111",
            "run x4 --------------------",
        ),
    ] {
        let report = drawn(&NEIGHBOUR.replace(from, to)).diagnose();
        assert_eq!(
            judged(&report, "cpu.neighbour").answer,
            Answer::CannotTell,
            "{to}"
        );
        sentences += &format!("{to}: {}\n", said(&report, "cpu.neighbour"));
    }
    let unseen = NEIGHBOUR
        .replace(
            "####################  /batch",
            "--------------------  /batch",
        )
        .replace(
            "55555555555555555555  /batch",
            "--------------------  /batch",
        );
    let report = drawn(&unseen).diagnose();
    assert_eq!(judged(&report, "cpu.neighbour").answer, Answer::CannotTell);
    sentences += &said(&report, "cpu.neighbour");
    expect![[r#"
        busy --------------------: cannot tell: the CPUs, or the target's threads, were not seen in this window
        wait --------------------: cannot tell: how long server waited for a CPU was not recorded
        run x4 --------------------: cannot tell: the CPUs, or the target's threads, were not seen in this window
        cannot tell: others hold the CPU, but no process was seen using it"#]].assert_eq(&sentences);
}

/// The same as the scheduler's own events tell it: of the 60 % of waiting 40 are behind others, 10 behind
/// the server itself and 10 behind the generator; the others' second process holds up four times what
/// the first does, though it uses less CPU.
pub fn booked() -> String {
    format!(
        "{NEIGHBOUR}
    thread_time.queued_rest_ns *1e9 44444444444444444444
    thread_time.queued_target_ns *1e9 11111111111111111111
    thread_time.queued_generator_ns *1e9 11111111111111111111
    process_time.delay_caused_ns other1 *1e9 33333333333333333333
    process_time.delay_caused_ns other2 *4e9 33333333333333333333
"
    )
}

#[test]
fn with_books_the_culprit_is_who_had_the_cpus_that_were_waited_for() {
    let report = drawn(&booked()).diagnose();
    assert_eq!(headline(&report).confidence, Confidence::Measured);
    expect![[r#"
        cpu.neighbour | cgroup batch | measured | 0.400 (0.400 to 0.400)
        A neighbour holds the CPU: cgroup /batch (above all its process other2) had it for 62 % of the time that one was waited for, and 60 % of each request was server waiting for one.
        helps: batch elsewhere, or with less weight: +147 % to +163 % by waits removed, closed loop (it takes 75 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&report));
    let text = booked().replace("/batch", "");
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).entity.name, "other2");
    let evidence = &headline(&report).evidence[1];
    assert!((evidence.value - 0.75).abs() < 0.01, "{evidence:?}");
}

/// Who had the CPUs that the target waited for, where `other2` is the recorder.
fn holders_beside_the_recorder(text: &str) -> String {
    let report = beside_the_recorder(text);
    let account = report.verdict.account.as_ref().expect("a target");
    let waits = account.items.iter().find(|item| !item.parts.is_empty());
    waits.expect("it waited").note.clone()
}

fn beside_the_recorder(text: &str) -> Report {
    let mut run = drawn(text);
    for record in run.timeline.entities.iter_mut() {
        if record.entity.name == "other2" {
            record.role = Role::Recorder;
        }
    }
    run.diagnose()
}

#[test]
fn what_the_recorder_does_in_on_windows_is_no_neighbour() {
    let counted = booked();
    let sampled = format!("{counted}    coverage.thread_time_ns *1e9 11111111111111111111\n");
    let all = [&counted, &sampled].map(|text| holders_beside_the_recorder(text));
    expect![[r#"
        CPUs held by server 17 %, loadgen 17 %, batch 12 %, others 54 %; 2.4 threads runnable on average
        CPUs held by server 33 %, loadgen 33 %, batch 12 %, others 21 %; 2.4 threads runnable on average"#]].assert_eq(&all.join("\n"));
    let report = beside_the_recorder(&sampled);
    let mut findings = report.verdict.findings.iter();
    assert!(findings.all(|it| it.entity.name != "other2"));
}

#[test]
fn with_books_processes_of_one_name_are_one_holder_and_who_is_not_named_comes_last() {
    let mut text = booked().replace("/batch", "");
    text = text.replace("other2 *4e9", "other2 *1e9");
    let mut said = String::new();
    for name in ["rustc", "server"] {
        let mut run = drawn(&text);
        let others = run.timeline.entities.iter_mut().map(|it| &mut it.entity);
        for entity in others.filter(|it| it.name.starts_with("other")) {
            entity.name = name.to_owned();
        }
        let report = run.diagnose();
        let account = report.verdict.account.as_ref().expect("a target");
        let waits = account.items.iter().find(|item| !item.parts.is_empty());
        said += &format!("{}\n", waits.expect("it waited").note);
    }
    expect![[r#"
        CPUs held by rustc (2 processes) 25 %, server 17 %, loadgen 17 %, others 42 %; 2.4 threads runnable on average
        CPUs held by other server (2 processes) 25 %, server 17 %, loadgen 17 %, others 42 %; 2.4 threads runnable on average
    "#]].assert_eq(&said);
}

#[test]
fn with_books_who_uses_the_cpus_and_holds_up_nobody_is_no_neighbour() {
    let text = booked()
        .replace(
            "rest_ns *1e9 44444444444444444444",
            "rest_ns *1e8 22222222222222222222",
        )
        .replace(
            "target_ns *1e9 11111111111111111111",
            "target_ns *1e9 55555555555555555555",
        );
    let report = drawn(&text).diagnose();
    assert_eq!(headline(&report).cause, "cpu.saturated");
    expect!["absent: for only 3.2 % of the time that CPUs were waited for, others had them"]
        .assert_eq(&said(&report, "cpu.neighbour"));
}

/// Two processes of others have three quarters of the CPU time, on whichever CPU; the server's own threads wait for the
/// rest, mostly behind each other.
#[test]
fn with_books_who_keeps_the_other_cpus_is_a_neighbour_too() {
    let text = booked()
        .replace(
            "rest_ns *1e9 44444444444444444444",
            "rest_ns *1e9 11111111111111111111",
        )
        .replace(
            "target_ns *1e9 11111111111111111111",
            "target_ns *1e9 44444444444444444444",
        );
    let report = drawn(&text).diagnose();
    expect![[r#"
        cpu.neighbour | cgroup batch | consistent | 0.450
        A neighbour holds the CPU: cgroup /batch (above all its process other2) used 75 % of the CPU time, had it for 17 % of the time that one was waited for, and 60 % of each request was server waiting for one.
        helps: batch elsewhere, or with less weight: +147 % to +163 % by waits removed, closed loop (it takes 75 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
        absent: others used 75 % of the CPU time
    "#]].assert_eq(&format!(
        "{}{}\n",
        told(&report),
        said(&report, "cpu.saturated")
    ));
}

#[test]
fn where_books_tell_of_too_few_waits_who_used_the_cpus_stands_for_the_neighbour() {
    let text = booked().replace("other2 *4e9", "other2 *1e9");
    let text = text
        .replace("/batch", "")
        .replace("rest      55555", "rest /a   55555");
    let report = drawn(&text).diagnose();
    expect!["present: A neighbour holds the CPU: process other1 had it for about 44 % of the time that one was waited for, and 60 % of each request was server waiting for one."].assert_eq(&said(&report, "cpu.neighbour"));
}

#[test]
fn a_pinned_target_is_told_by_its_books() {
    let text = booked().replace("clients 4", "clients 4  allowed 1");
    assert_eq!(headline(&drawn(&text).diagnose()).cause, "cpu.neighbour");
    let without = NEIGHBOUR.replace("clients 4", "clients 4  allowed 1");
    let report = drawn(&without).diagnose();
    assert_eq!(judged(&report, "cpu.neighbour").answer, Answer::CannotTell);
}

#[test]
fn with_books_a_generator_that_waits_hides_no_part_of_the_targets_own_wait() {
    // The generator waits for others nearly all the time; of the target's own wait they have 4 of 6.
    let text = booked().replace(
        "gen       11111111111111111111",
        "gen       11111111111111111111
    genwait   88888888888888888888
    thread_time.queued_rest_ns loader1 *1e9 88888888888888888888",
    );
    let report = drawn(&text).diagnose();
    let finding = headline(&report);
    assert_eq!(finding.cause, "cpu.neighbour");
    assert!((finding.share.expect("a share") - 0.4).abs() < 0.01);
    assert!((finding.evidence[0].value - 2.0 / 3.0).abs() < 0.01);
}

#[test]
fn who_had_the_cpus_in_bursts_is_named_however_busy_they_are() {
    let bursts = booked().replace(
        "busy      ####################",
        "busy      66666666666666666666",
    );
    expect![[r#"
        cpu.neighbour | cgroup batch | measured | 0.400 (0.400 to 0.400)
        A neighbour holds the CPU: cgroup /batch (above all its process other2) had it for 62 % of the time that one was waited for, and 60 % of each request was server waiting for one.
        helps: batch elsewhere, or with less weight: +147 % to +163 % by waits removed, closed loop (it takes 75 % of the CPU)
        not: more clients, faster disk, more memory
        wrong if: under the same load: stallscope prove --target 'name:^server$' --capacity cpu
    "#]].assert_eq(&told(&drawn(&bursts).diagnose()));
    // Of requests that take 50 us the wait is what being woken costs.
    let short = bursts.replace("tps    ", "tps *400");
    expect!["present: A neighbour holds the CPU: cgroup /batch (above all its process other2) had it for 62 % of the time that one was waited for, and 60 % of each request was server waiting for one."].assert_eq(&said(&drawn(&short).diagnose(), "cpu.neighbour"));
}

/// The server hardly waits, the load generator does, and of who had the CPUs one process was seen with a twentieth.
#[test]
fn nothing_is_healthy_while_nobody_knows_who_had_the_cpus() {
    // Three others use a fifth of the CPUs each.
    let text = booked()
        .replace("wait      66666", "wait      00000")
        .replace(
            "rest      ####################  /batch",
            "rest      44444444444444444444",
        )
        .replace(
            "rest      55555555555555555555  /batch",
            "rest      44444444444444444444\n    rest      44444444444444444444",
        )
        .replace("run x4    1", "run x4    0")
        .replace("other1 *1e9", "other1 *1e8")
        .replace("other2 *4e9", "other2 *1e8")
        .replace("_ns *1e9 ", "_ns *1e6 ");
    let late = "
    genwait   88888888888888888888
    process_time.delay_caused_ns other3 *1e8 33333333333333333333
    thread_time.queued_rest_ns loader1 *1e9 88888888888888888888\n";
    let mut run = drawn(&format!("{text}{late}"));
    // The others have nothing in common: who started them started the server too.
    let entities = &mut run.timeline.entities;
    let shell = entities.iter().find(|it| it.entity.name == "shell");
    let shell = shell.expect("others have a parent").id;
    let servers = entities.iter_mut().filter(|it| it.entity.name == "server");
    servers.for_each(|it| it.parent = Some(shell));
    let report = run.diagnose();
    expect![[r#"
        cannot tell: for 100 % of the time that CPUs were waited for, others had them, but none stands out: other3 had 33 % of that
        cannot tell: whose doing it was that CPUs were waited for, 72 % of each request
        Undetermined: 72 % of each request was loadgen waiting for a CPU, and no cause that this version judges explains it."#]].assert_eq(&format!(
        "{}\n{}\n{}",
        said(&report, "cpu.neighbour"),
        said(&report, "healthy"),
        headline(&report).sentence
    ));
}
