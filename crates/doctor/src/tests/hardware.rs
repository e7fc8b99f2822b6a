//! What the kernel counts, and the hardware or hypervisor below it.

use super::*;

#[test]
fn run_queue_delay_may_be_missing_or_off() {
    let schedstat = ["proc/self/schedstat"];
    assert_answer(
        "run_queue_delay",
        &schedstat,
        "",
        &expect![[r#"
            Missing: /proc/self/schedstat cannot be read (ENOENT): the kernel was built without CONFIG_SCHED_INFO.
            (another kernel: CONFIG_SCHEDSTATS=y or CONFIG_TASK_DELAY_ACCT=y)
        "#]],
    );
    assert_answer(
        "run_queue_delay",
        &schedstat,
        "proc/self/schedstat = 0 0 0\\n",
        &expect![[r#"
            Missing: /proc/self/schedstat is all zeros: the kernel can count run-queue delay, and it is switched off.
            (take nodelayacct out of the kernel's boot parameters and reboot)
        "#]],
    );
}

#[test]
fn a_slow_clock_is_changed_where_a_fast_one_is_offered() {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let clocks = format!(
        "{folder}/current_clocksource = hpet\\n\n{folder}/available_clocksource = tsc hpet acpi_pm\\n"
    );
    assert_answer(
        "clock",
        &[folder],
        &clocks,
        &expect![[r#"
            Missing: The clock source is hpet, which is slow; a reading takes 50 ns.
            (until the next boot; clocksource=tsc as a boot parameter keeps it)
            $ echo tsc | tee /sys/devices/system/clocksource/clocksource0/current_clocksource
        "#]],
    );
    assert_answer(
        "clock",
        &[folder],
        &format!("{folder}/current_clocksource = acpi_pm\\n"),
        &expect![[r#"
            Missing: The clock source is acpi_pm, which is slow; a reading takes 50 ns.
            (the kernel offers no faster one here: `dmesg | grep -i -e tsc -e clocksource` says why)
        "#]],
    );
}

#[test]
fn steal_is_available_or_not() {
    let quiet = "proc/stat = cpu  900 0 50 9000 10 0 4 0 0 0\\ncpu0 900 0 50 9000 10 0 4 0 0 0\\n";
    assert_answer(
        "steal",
        &["proc/stat"],
        quiet,
        &expect![[r#"
        CannotTell: This is a guest of QEMU, and steal in /proc/stat is 0 since boot: nothing was taken, or it is not told.
    "#]],
    );
    let vmware = format!("{quiet}\nsys/class/dmi/id/sys_vendor = VMware, Inc.\\n");
    assert_answer(
        "steal",
        &["proc/stat", "sys/class/dmi"],
        &vmware,
        &expect![[r#"
            CannotTell: This is a guest of VMware, and steal in /proc/stat is 0 since boot: nothing was taken, or it is not told.
            (VMware tells it to guests whose configuration has stealclock.enable = "TRUE" (hardware version 13 or newer, Linux 5.8 or later))
        "#]],
    );
    assert_answer(
        "steal",
        &["proc/cpuinfo"],
        "proc/cpuinfo = flags\\t: fpu vme\\n",
        &expect![[r#"
            Fine: No hypervisor is below (no `hypervisor` among the flags of /proc/cpuinfo): nobody steals.
        "#]],
    );
    assert_answer(
        "steal",
        &["sys/class/dmi"],
        "",
        &expect![[r#"
        Fine: This is a guest of a hypervisor without a name, which tells what it takes: 0.4 % of the time since boot (steal in /proc/stat).
    "#]],
    );
}

#[test]
fn disks_may_not_be_counted() {
    let off = "sys/block/sdb/queue/iostats = 0\\n";
    assert_answer(
        "disks",
        &[],
        off,
        &expect![[r#"
            Missing: The kernel does not count what sdb does: /sys/block/sdb/queue/iostats is 0.
            (until the next boot)
            $ echo 1 | tee /sys/block/sdb/queue/iostats
        "#]],
    );
}
