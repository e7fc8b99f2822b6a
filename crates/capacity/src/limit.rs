//! A capacity that a group may be given, as people type it and as the kernel takes it.

use crate::Controller;

/// What is limited.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Which CPUs: a list as in cpuset(7).
    Cpus,
    /// CPU time, in CPUs.
    Quota,
    /// Memory, bytes.
    Memory,
    /// Disk requests per second, reads and writes each, on each disk.
    Iops,
    /// Bytes per second, read and written each, on each disk.
    Bandwidth,
}

/// So long a quota's period is, us: the kernel's own default.
pub(crate) const PERIOD_US: u64 = 100_000;
/// The kernel refuses less of a quota per period (kernel/sched/core.c, min_cfs_quota_period).
pub(crate) const LEAST_QUOTA_US: u64 = 1_000;
/// What `none` stands for.
const NONE: &str = "none";

impl Kind {
    /// All.
    pub const ALL: [Kind; 5] = [
        Self::Cpus,
        Self::Quota,
        Self::Memory,
        Self::Iops,
        Self::Bandwidth,
    ];

    /// The word for it: `quota`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Quota => "quota",
            Self::Memory => "memory",
            Self::Iops => "iops",
            Self::Bandwidth => "bandwidth",
        }
    }

    /// That of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }

    /// Who enforces it.
    pub const fn controller(self) -> Controller {
        match self {
            Self::Cpus => Controller::Cpuset,
            Self::Quota => Controller::Cpu,
            Self::Memory => Controller::Memory,
            Self::Iops | Self::Bandwidth => Controller::Io,
        }
    }

    /// How its values are written.
    const fn values(self) -> &'static str {
        match self {
            Self::Cpus => "a list of CPUs like 0-3,6",
            Self::Quota => "a number of CPUs like 0.5",
            Self::Memory => "bytes like 512M or 2G",
            Self::Iops => "requests per second like 500",
            Self::Bandwidth => "bytes per second like 20M",
        }
    }
}

/// A capacity with its value. `None` in it lifts the limit.
#[derive(Clone, PartialEq, Debug)]
pub enum Limit {
    /// On these CPUs only.
    Cpus(String),
    /// CPU time, in CPUs.
    Quota(Option<f64>),
    /// Memory, bytes.
    Memory(Option<u64>),
    /// Requests per second.
    Iops(Option<u64>),
    /// Bytes per second.
    Bandwidth(Option<u64>),
}

/// A file of a group and what is written to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) file: &'static str,
    pub(crate) text: String,
    /// Whether the same text is read back: of limits by disk it stands among others.
    pub(crate) is_read_back: bool,
}

fn setting(file: &'static str, text: impl Into<String>) -> Setting {
    Setting {
        file,
        text: text.into(),
        is_read_back: true,
    }
}

impl Limit {
    /// The limit of this kind that was typed: `0.5`, `512M`, `none`.
    ///
    /// # Errors
    /// A sentence: the value is none of its kind.
    pub fn parse(kind: Kind, typed: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{typed}` is no value of {}: it is {}, or none",
                kind.word(),
                kind.values()
            )
        };
        let is_none = typed == NONE;
        let whole = || match is_none {
            true => Ok(None),
            false => bytes(typed)
                .filter(|it| *it > 0)
                .map(Some)
                .ok_or_else(wrong),
        };
        Ok(match kind {
            Kind::Cpus if is_cpu_list(typed) => Self::Cpus(typed.to_owned()),
            Kind::Cpus => {
                return Err(format!(
                    "`{typed}` is no value of cpus: it is {}",
                    kind.values()
                ));
            }
            Kind::Quota if is_none => Self::Quota(None),
            Kind::Quota => {
                let cpus: f64 = typed.parse().map_err(|_| wrong())?;
                if !(cpus.is_finite() && cpus > 0.0 && cpus <= 1e5) {
                    return Err(wrong());
                }
                if quota_us(cpus) < LEAST_QUOTA_US {
                    return Err(format!(
                        "a quota of {typed} CPUs is less than the kernel takes: 0.01"
                    ));
                }
                Self::Quota(Some(cpus))
            }
            Kind::Memory => Self::Memory(whole()?),
            Kind::Iops => Self::Iops(whole()?),
            Kind::Bandwidth => Self::Bandwidth(whole()?),
        })
    }

    /// What it limits.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Cpus(_) => Kind::Cpus,
            Self::Quota(_) => Kind::Quota,
            Self::Memory(_) => Kind::Memory,
            Self::Iops(_) => Kind::Iops,
            Self::Bandwidth(_) => Kind::Bandwidth,
        }
    }

    /// What is written in a v1 hierarchy, in this order (kernel, Documentation/admin-guide/cgroup-v1/ and
    /// Documentation/scheduler/sched-bwc.rst).
    pub(crate) fn in_v1(&self, disks: &[String]) -> Vec<Setting> {
        match self {
            Self::Cpus(list) => vec![setting("cpuset.cpus", list)],
            Self::Quota(None) => vec![setting("cpu.cfs_quota_us", "-1")],
            Self::Quota(Some(cpus)) => vec![
                setting("cpu.cfs_period_us", PERIOD_US.to_string()),
                setting("cpu.cfs_quota_us", quota_us(*cpus).to_string()),
            ],
            Self::Memory(most) => vec![Setting {
                // The kernel rounds to whole pages.
                is_read_back: false,
                ..setting(
                    "memory.limit_in_bytes",
                    most.map_or("-1".to_owned(), |it| it.to_string()),
                )
            }],
            Self::Iops(most) => by_disk(
                [
                    "blkio.throttle.read_iops_device",
                    "blkio.throttle.write_iops_device",
                ],
                disks,
                *most,
            ),
            Self::Bandwidth(most) => by_disk(
                [
                    "blkio.throttle.read_bps_device",
                    "blkio.throttle.write_bps_device",
                ],
                disks,
                *most,
            ),
        }
    }

    /// What is written in the unified hierarchy (kernel, Documentation/admin-guide/cgroup-v2.rst).
    pub(crate) fn in_v2(&self, disks: &[String]) -> Vec<Setting> {
        let word = |most: &Option<u64>| most.map_or("max".to_owned(), |it| it.to_string());
        let io = |kind: &str, most: &Option<u64>| {
            let most = word(most);
            let each = disks.iter().map(|disk| Setting {
                is_read_back: false,
                ..setting("io.max", format!("{disk} r{kind}={most} w{kind}={most}"))
            });
            each.collect()
        };
        match self {
            Self::Cpus(list) => vec![setting("cpuset.cpus", list)],
            Self::Quota(most) => {
                let most = most.map_or("max".to_owned(), |it| quota_us(it).to_string());
                vec![setting("cpu.max", format!("{most} {PERIOD_US}"))]
            }
            Self::Memory(most) => vec![Setting {
                is_read_back: false,
                ..setting("memory.max", word(most))
            }],
            Self::Iops(most) => io("iops", most),
            Self::Bandwidth(most) => io("bps", most),
        }
    }
}

fn by_disk(files: [&'static str; 2], disks: &[String], most: Option<u64>) -> Vec<Setting> {
    // 0 takes a rule away.
    let most = most.unwrap_or(0);
    let each = files.into_iter().flat_map(|file| {
        disks.iter().map(move |disk| Setting {
            is_read_back: false,
            ..setting(file, format!("{disk} {most}"))
        })
    });
    each.collect()
}

pub(crate) fn quota_us(cpus: f64) -> u64 {
    (cpus * PERIOD_US as f64).round() as u64
}

/// `512`, `512K`, `2G`: powers of 1024, as the kernel reads them (lib/cmdline.c, memparse).
fn bytes(typed: &str) -> Option<u64> {
    let digits = typed.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let power = match &typed[digits.len()..].to_ascii_uppercase()[..] {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1_u64.checked_shl(10 * power)?)
}

/// `0-3,6`
fn is_cpu_list(typed: &str) -> bool {
    ranges(typed).is_some()
}

/// The ranges of a list of CPUs, ends included; `None` where it is none.
fn ranges(list: &str) -> Option<Vec<(u32, u32)>> {
    let number = |it: &str| it.parse::<u32>().ok();
    let range = |part: &str| match part.split_once('-') {
        None => number(part).map(|it| (it, it)),
        Some((from, to)) => number(from).zip(number(to)).filter(|(from, to)| from <= to),
    };
    list.split(',').map(range).collect()
}

/// Whether all CPUs of a list are among those of another one, as the kernel writes it: without neighbouring ranges.
pub(crate) fn are_among(wanted: &str, allowed: &str) -> bool {
    let allowed = ranges(allowed).unwrap_or_default();
    let is_in = |(from, to): (u32, u32)| allowed.iter().any(|it| it.0 <= from && to <= it.1);
    ranges(wanted).is_some_and(|it| it.into_iter().all(is_in))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(kind: Kind, typed: &str) -> Limit {
        Limit::parse(kind, typed).expect(typed)
    }

    #[test]
    fn cpus_are_among_others() {
        for (wanted, allowed, is) in [
            ("0", "0-1", true),
            ("0-1,3", "0-3", true),
            ("0-1,7", "0-3,7", true),
            ("1-4", "0-3,7", false),
            ("0", "", false),
            ("0-4294967295", "0-3", false),
        ] {
            assert_eq!(are_among(wanted, allowed), is, "{wanted} of {allowed}");
        }
    }

    fn written(settings: &[Setting]) -> Vec<String> {
        settings
            .iter()
            .map(|it| format!("{}={}", it.file, it.text))
            .collect()
    }

    #[test]
    fn a_limit_is_written_as_each_layout_takes_it() {
        let disks = ["254:0".to_owned()];
        let of = |kind, typed| {
            let limit = limit(kind, typed);
            (written(&limit.in_v1(&disks)), written(&limit.in_v2(&disks)))
        };
        let (v1, v2) = of(Kind::Quota, "0.25");
        assert_eq!(v1, ["cpu.cfs_period_us=100000", "cpu.cfs_quota_us=25000"]);
        assert_eq!(v2, ["cpu.max=25000 100000"]);
        let (v1, v2) = of(Kind::Quota, "none");
        assert_eq!(
            (v1, v2),
            (
                vec!["cpu.cfs_quota_us=-1".to_owned()],
                vec!["cpu.max=max 100000".to_owned()]
            )
        );
        let (v1, v2) = of(Kind::Memory, "512M");
        assert_eq!(v1, ["memory.limit_in_bytes=536870912"]);
        assert_eq!(v2, ["memory.max=536870912"]);
        let (v1, v2) = of(Kind::Iops, "500");
        assert_eq!(
            v1,
            [
                "blkio.throttle.read_iops_device=254:0 500",
                "blkio.throttle.write_iops_device=254:0 500"
            ]
        );
        assert_eq!(v2, ["io.max=254:0 riops=500 wiops=500"]);
        let (v1, v2) = of(Kind::Bandwidth, "none");
        assert_eq!(v1[0], "blkio.throttle.read_bps_device=254:0 0");
        assert_eq!(v2, ["io.max=254:0 rbps=max wbps=max"]);
        assert_eq!(of(Kind::Cpus, "0-1").1, ["cpuset.cpus=0-1"]);
    }

    #[test]
    fn nonsense_is_told() {
        for (kind, typed, said) in [
            (Kind::Quota, "two", "a number of CPUs like 0.5, or none"),
            (Kind::Quota, "-1", "a number of CPUs"),
            (Kind::Quota, "nan", "a number of CPUs"),
            (Kind::Quota, "0.001", "less than the kernel takes"),
            (Kind::Memory, "12X", "bytes like 512M"),
            (Kind::Memory, "99999999T", "bytes like 512M"),
            (Kind::Iops, "0", "requests per second"),
            (Kind::Cpus, "none", "a list of CPUs like 0-3,6"),
            (Kind::Cpus, "3-1", "a list of CPUs"),
        ] {
            let wrong = Limit::parse(kind, typed).expect_err(typed);
            assert!(wrong.contains(said), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_read_or_told(typed in "[0-9a-zKMGT.,é-]{0,12}") {
            for kind in Kind::ALL {
                if let Ok(limit) = Limit::parse(kind, &typed) {
                    prop_assert_eq!(limit.kind(), kind);
                }
            }
        }
    }
}
