//! Pressure, control groups, and other readers.

use super::*;

#[test]
fn pressure_that_refuses_was_switched_off_at_boot() {
    let rhel = r#"
        etc/os-release = PRETTY_NAME="Red Hat Enterprise Linux 8.9 (Ootpa)"\nID="rhel"\n
        proc/sys/kernel/osrelease = 4.18.0-513.5.1.el8_9.x86_64\n
        proc/pressure/cpu ! EOPNOTSUPP"#;
    let without = ["etc/", "proc/sys/kernel/osrelease", "proc/pressure/cpu"];
    assert_answer(
        "pressure",
        &without,
        rhel,
        &expect![[r#"
            Missing: Pressure is switched off: the kernel has it and was not booted with psi=1 (reading /proc/pressure/cpu gives EOPNOTSUPP).
            $ grubby --update-kernel=ALL --args=psi=1
            $ reboot
        "#]],
    );
}

#[test]
fn a_copy_of_a_file_that_refuses_is_empty() {
    let tree = redrawn(&["proc/pressure/cpu"], "proc/pressure/cpu = ");
    expect![[r#"
        Missing: Pressure is switched off: the kernel has it and was not booted with psi=1 (/proc/pressure/cpu is there and could not be read).
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | sudo tee -a /etc/default/grub
        $ sudo update-grub
        $ sudo reboot
    "#]].assert_eq(&of(&tree, None, "pressure"));
}

#[test]
fn pressure_without_files_is_off_not_built_or_hidden() {
    let none = ["proc/pressure", "boot/"];
    let mut text = String::new();
    for config in [
        "CONFIG_PSI=y\\nCONFIG_PSI_DEFAULT_DISABLED=y\\n",
        "# CONFIG_PSI is not set\\n",
        "CONFIG_PSI=y\\n",
    ] {
        let config = format!("boot/config-6.12.48+deb13-amd64 = {config}");
        text.push_str(&of(
            &redrawn(&none, &config),
            Some(everything()),
            "pressure",
        ));
    }
    text.push_str(&of(&redrawn(&none, ""), Some(everything()), "pressure"));
    let off = [&none[..], &["proc/cmdline"]].concat();
    let booted = "proc/cmdline = quiet psi=0\nboot/config-6.12.48+deb13-amd64 = CONFIG_PSI=y\\n";
    text.push_str(&of(&redrawn(&off, booted), Some(everything()), "pressure"));
    let old = [&none[..], &["proc/sys/kernel/osrelease"]].concat();
    let release = "proc/sys/kernel/osrelease = 3.10.0-1160.el7.x86_64\\n";
    text.push_str(&of(&redrawn(&old, release), Some(everything()), "pressure"));
    expect![[r#"
        Missing: Pressure is switched off: the kernel has it, but /boot/config-6.12.48+deb13-amd64 has CONFIG_PSI_DEFAULT_DISABLED=y, and it was not booted with psi=1.
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | tee -a /etc/default/grub
        $ update-grub
        $ reboot
        Missing: This kernel was built without pressure: /boot/config-6.12.48+deb13-amd64 has no CONFIG_PSI=y, and there is no /proc/pressure/cpu.
        (a kernel built with CONFIG_PSI=y: no boot parameter helps)
        Missing: The kernel has pressure and it is on, but there is no /proc/pressure/cpu: a sandbox hides it.
        (run outside of the sandbox (of systemd: a unit without ProcSubset=pid and InaccessiblePaths=))
        Missing: There is no /proc/pressure/cpu: pressure is switched off, not built in, or hidden by a sandbox, and no kernel configuration tells which.
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | tee -a /etc/default/grub
        $ update-grub
        $ reboot
        Missing: Pressure is switched off: the kernel has it, but it was booted with psi=0.
        (take psi=0 out where it stands)
        $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | tee -a /etc/default/grub
        $ update-grub
        $ reboot
        Missing: There is no /proc/pressure/cpu: Linux 3.10.0-1160.el7.x86_64 is older than pressure, which came with 4.20 (4.18 on RHEL 8).
        (a kernel of 4.20 or later)
    "#]].assert_eq(&text);
}

#[test]
fn a_sandbox_that_hides_pressure_differs_from_a_kernel_without_it() {
    let without = ["proc/pressure/memory"];
    assert_answer(
        "pressure",
        &without,
        "proc/pressure/memory ! EACCES",
        &expect![[r#"
            Missing: /proc/pressure/memory may not be read (EACCES): a sandbox or a security policy hides it.
            (run outside of the sandbox (of systemd: a unit without ProcSubset=pid and InaccessiblePaths=))
        "#]],
    );
}

#[test]
fn groups_may_have_their_pressure_switched_off() {
    let off = "sys/fs/cgroup/db.slice/cgroup.pressure = 0\\n";
    assert_answer(
        "group_pressure",
        &[],
        off,
        &expect![[r#"
            Missing: 1 group has pressure switched off: /sys/fs/cgroup/db.slice/cgroup.pressure is 0.
            $ echo 1 | tee /sys/fs/cgroup/db.slice/cgroup.pressure
        "#]],
    );
    let v1 = "proc/self/mountinfo = 30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\\n";
    assert_answer(
        "group_pressure",
        &["proc/self/mountinfo"],
        v1,
        &expect![[r#"
            Missing: No v2 hierarchy is mounted (layout by /proc/self/mountinfo: v1), and only v2 groups have pressure.
            (with systemd; all groups then are v2, those of containers too)
            $ echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX systemd.unified_cgroup_hierarchy=1"' | tee -a /etc/default/grub
            $ update-grub
            $ reboot
        "#]],
    );
}

#[test]
fn controllers_are_counted_wherever_they_are() {
    let io = ["sys/fs/cgroup/system.slice/io.max"];
    assert_answer(
        "control_groups",
        &io,
        "",
        &expect![[r#"
            Missing: Layout v2, at /sys/fs/cgroup; its groups have cpu, memory, not io (no io.max below /sys/fs/cgroup).
            (until the next boot; with systemd, MemoryAccounting=yes and IOAccounting=yes of a unit keep it)
            $ echo +io | tee /sys/fs/cgroup/cgroup.subtree_control
        "#]],
    );
    // A container's visible root is a group with limits of its own.
    let contained = "sys/fs/cgroup/memory.max = max\\n\nsys/fs/cgroup/io.max = x";
    assert_answer(
        "control_groups",
        &["sys/fs/cgroup/system.slice"],
        contained,
        &expect![[r#"
            Fine: Layout v2, at /sys/fs/cgroup; its groups have memory, io.
        "#]],
    );
    let hybrid = "proc/self/mountinfo = 25 30 0:23 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\\n\
        30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\\n\
        31 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\\n\
        32 1 0:32 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\\n";
    assert_answer(
        "control_groups",
        &["proc/self/mountinfo"],
        hybrid,
        &expect![[r#"
            Fine: Layout hybrid, v2 at /sys/fs/cgroup/unified, v1 for blkio, cpu, cpuacct, memory; its groups have cpu, memory, io.
        "#]],
    );
    assert_answer(
        "control_groups",
        &["proc/self/mountinfo"],
        "",
        &expect![[r#"
            Missing: No cgroup hierarchy is mounted (/proc/self/mountinfo).
            $ mount -t cgroup2 none /sys/fs/cgroup
        "#]],
    );
}

#[test]
fn other_readers_of_pressure_are_named() {
    let holder = "proc/77/comm = greedy\n\
        proc/77/fd/4 -> /sys/fs/cgroup/db.slice/memory.pressure\n\
        proc/77/fdinfo/4 = pos:\\t0\\nflags:\\t0100000\\n";
    assert_answer(
        "pressure_readers",
        &[],
        holder,
        &expect![[r#"
        CannotTell: Pressure files are held open by greedy (77): how often they are read is not told.
        (see how often)
        $ timeout 10 strace -f -y -e trace=read,pread64 -p 77
    "#]],
    );
    // A trigger is held open for writing: it costs other readers nothing.
    let trigger = "proc/77/comm = waiter\n\
        proc/77/fd/4 -> /proc/pressure/memory\n\
        proc/77/fdinfo/4 = pos:\\t0\\nflags:\\t0100002\\n";
    assert_answer(
        "pressure_readers",
        &[],
        trigger,
        &expect![[r#"
            Fine: No other reader of pressure among 2 processes.
        "#]],
    );
    let known = "proc/78/comm = systemd-oomd\nproc/78/fd/4 -> /dev/null\nproc/79/comm = node_exporter\nproc/79/fd/4 -> /dev/null";
    assert_answer(
        "pressure_readers",
        &[],
        known,
        &expect![[r#"
        Fine: Pressure is also read by systemd-oomd (78, every 1 s), as it comes: about 1 % of a light load's pressure is lost. (3 processes looked at.)
    "#]],
    );
}

#[test]
fn a_look_at_very_many_processes_is_cut_short_and_says_so() {
    let many: String = (100..5_000)
        .map(|pid| format!("proc/{pid}/comm = sleep\nproc/{pid}/fd/0 -> /dev/null\n"))
        .collect();
    assert_answer(
        "pressure_readers",
        &[],
        &many,
        &expect![[r#"
        Fine: No other reader of pressure among 4000 processes (901 more were left out).
    "#]],
    );
}
