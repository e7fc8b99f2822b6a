//! What this process may do, on the host and in a container.

use super::*;

#[test]
fn processes_may_be_hidden() {
    let hidden = "proc/self/mountinfo = 22 1 0:20 / /proc rw - proc proc rw,hidepid=2\\n";
    let tree = redrawn(&["proc/self/mountinfo"], hidden);
    let answers = [everything(), ordinary()].map(|it| of(&tree, Some(it), "processes"));
    expect![[r#"
        Fine: /proc is mounted with hidepid=2, which hides nothing from CAP_SYS_PTRACE.
        Missing: /proc is mounted with hidepid=2: processes of other users are not shown.
        (or run as root; an entry of /proc in /etc/fstab may set it again)
        $ sudo mount -o remount,hidepid=0 /proc
    "#]]
    .assert_eq(&answers.concat());
}

#[test]
fn nobody_may_look_into_others_under_yama_3() {
    let scope = "proc/sys/kernel/yama/ptrace_scope = 3\\n";
    assert_answer(
        "other_users",
        &["proc/sys/kernel/yama/ptrace_scope"],
        scope,
        &expect![[r#"
            Missing: kernel.yama.ptrace_scope is 3: nobody may look into another process, root neither.
            (it cannot be lowered while the machine runs: set it to 1 where /etc/sysctl.d sets it, then)
            $ reboot
        "#]],
    );
}

#[test]
fn access_to_other_users_processes_is_probed_not_assumed() {
    let of_postgres = "proc/70/comm = postgres\nproc/70/cmdline = postgres -D /data\n\
        proc/70/status = Uid:\\t26\\t26\\t26\\t26\\n\n";
    let open = format!("{of_postgres}proc/70/syscall = 232 0x4\\n");
    let closed = format!("{of_postgres}proc/70/syscall ! EACCES");
    // Root in a container as Docker starts it.
    let mixed = format!(
        "{closed}\nproc/80/comm = sshd\nproc/80/cmdline = sshd\nproc/80/syscall = 7 0x4\\n"
    );
    let mut without = everything();
    without.privileges = 0;
    let mut confined = everything();
    confined.profile = "docker-default (enforce)".to_owned();
    let mut answers = String::new();
    for (files, probes) in [
        (&open, everything()),
        (&closed, confined),
        (&mixed, without),
        (&closed, ordinary()),
    ] {
        answers.push_str(&of(&redrawn(&[], files), Some(probes), "other_users"));
    }
    expect![[r#"
        Fine: What threads of others are blocked in may be read (/proc/PID/syscall of 1 process).
        Missing: This is root, and still refused by a security policy (docker-default (enforce)): only its own threads say what they are blocked in.
        (let the policy allow it; a container under Docker's profile of AppArmor is started with --security-opt apparmor=unconfined)
        Missing: This is root without CAP_SYS_PTRACE: only threads of what it starts itself say what they are blocked in (kernel.yama.ptrace_scope is 1).
        (somebody took rights from this root: CapabilityBoundingSet= of a unit, --cap-add= of a container)
        Missing: This is user 1000, without CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH: only threads of what it starts itself say what they are blocked in (kernel.yama.ptrace_scope is 1).
        (run Stallscope as root, or give the program the rights once; an ordinary user may then use it)
        $ sudo setcap cap_sys_ptrace,cap_dac_read_search,cap_sys_nice,cap_ipc_lock+ep /usr/local/bin/stallscope
    "#]].assert_eq(&answers);
}

#[test]
fn limits_are_compared_with_the_machine() {
    as_user(
        "descriptors",
        |it| it.most_files = Some(512),
        &expect![[r#"
            Missing: 806 files would be open for 1 process, 2 groups and 200 threads of a target, and the hard limit is 512 (ulimit -Hn).
            (for this shell and what it starts)
            $ sudo prlimit --pid $$ --nofile=65536
        "#]],
    );
    as_user(
        "recordings",
        |it| it.free = Ok(3 << 20),
        &expect![[r#"
            Missing: /home/ada has 3 MB left.
            (choose another folder with -o, such as)
            $ stallscope record -o ~/first.stall --for 10s
        "#]],
    );
    as_user(
        "recordings",
        |it| it.writable = Err(Errno::ROFS),
        &expect![[r#"
            Missing: /home/ada cannot be written (EROFS).
            (choose another folder with -o, such as)
            $ stallscope record -o ~/first.stall --for 10s
        "#]],
    );
}

#[test]
fn a_container_asks_the_one_who_starts_it() {
    let contained = |sign: &str| {
        let mut probes = everything();
        (probes.initial_pid_ns, probes.initial_cgroup_ns) = (false, false);
        probes.profile = "docker-default (enforce)".to_owned();
        let tree = redrawn(&[], sign);
        of(&tree, Some(probes), "container")
    };
    let docker = contained(".dockerenv = x");
    let kubernetes = contained("run/secrets/kubernetes.io/serviceaccount/namespace = default");
    expect![[r#"
        Missing: This process is in a container (Docker's, by /.dockerenv), with namespaces of its own for processes, control groups: of these it sees its own only.
        (ask the one who starts it for this, then record from inside)
        $ docker run --pid=host --cgroupns=host --cap-add=SYS_PTRACE --cap-add=DAC_READ_SEARCH --cap-add=SYS_NICE --cap-add=IPC_LOCK -v /:/host:ro --security-opt apparmor=unconfined IMAGE
        $ stallscope record --root /host --for 30s
        Missing: This process is in a container (Kubernetes', by /run/secrets/kubernetes.io), with namespaces of its own for processes, control groups: of these it sees its own only.
        (ask for this in the pod (hostPID: true; a hostPath volume of / mounted at /host; securityContext: capabilities: add: [SYS_PTRACE, DAC_READ_SEARCH, SYS_NICE, IPC_LOCK]), then record from inside)
        $ stallscope record --root /host --for 30s
        Missing: This process is in a container, with namespaces of its own for processes, control groups: of these it sees its own only.
        (run Stallscope outside of it; docs/doctor.md says what Docker, Podman and Kubernetes need)
    "#]].assert_eq(&[docker, kubernetes, contained("")].concat());
}

#[test]
fn sockets_that_are_not_listed_name_their_modules() {
    as_user(
        "sockets",
        |it| it.unix_sockets = Err(Errno::NOENT),
        &expect![[r#"
            Missing: The kernel does not list unix sockets with their other ends (ENOENT): the module unix_diag is not loaded.
            (until the next boot; a file in /etc/modules-load.d that names it keeps it)
            $ sudo modprobe -a unix_diag
        "#]],
    );
    as_user(
        "sockets",
        |it| (it.tcp_sockets, it.unix_sockets) = (Err(Errno::NOENT), Err(Errno::NOENT)),
        &expect![[r#"
            Missing: The kernel does not list TCP or unix sockets with their other ends (ENOENT): the modules tcp_diag and unix_diag are not loaded.
            (until the next boot; a file in /etc/modules-load.d that names it keeps it)
            $ sudo modprobe -a tcp_diag unix_diag
        "#]],
    );
}

#[test]
fn bpf_says_why_not() {
    as_user(
        "bpf",
        |it| it.filtered = true,
        &expect![[r#"
            Missing: bpf(2) takes no map here (EPERM): a seccomp filter watches over this process. No verdict of this version needs it: pressure is read from files instead.
        "#]],
    );
    as_user(
        "bpf",
        |it| it.bpf_map = Err(Errno::NOSYS),
        &expect![[r#"
            Missing: bpf(2) takes no map here (ENOSYS): the kernel was built without CONFIG_BPF_SYSCALL. No verdict of this version needs it: pressure is read from files instead.
        "#]],
    );
    let locked = "sys/kernel/security/lockdown = none integrity [confidentiality]\\n";
    assert_answer(
        "bpf",
        &[],
        locked,
        &expect![[r#"
            Missing: Maps and programs are taken, but the kernel is locked down for confidentiality (/sys/kernel/security/lockdown): programs may not read its memory. No verdict of this version needs it: pressure is read from files instead.
        "#]],
    );
    as_user(
        "perf",
        |it| it.cpu_clock = Err(Errno::ACCESS),
        &expect![[r#"
            Missing: perf_event_open(2) gives EACCES (kernel.perf_event_paranoid is 3). No verdict of this version uses it; without it no call stacks are recorded.
            (until the next boot; `kernel.perf_event_paranoid=2` in /etc/sysctl.d/90-stallscope.conf keeps it)
            $ sudo sysctl -w kernel.perf_event_paranoid=2
        "#]],
    );
}
