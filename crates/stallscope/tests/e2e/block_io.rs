//! Requests of a block device, against fio, which knows what it has asked for: patterns of known sizes, order, depth
//! and bursts, on a filesystem of their own in a file.
//!
//! The filesystem is mounted in a namespace of the workload's own: it is gone with the workload, however that ends, and
//! nobody else reads or writes there.

use model::{EntityKind, EntityRecord, IoPart, IoPattern, Timeline};
use sensors::block_io::{BLOCK_IO, BUCKETS_FROM, Operation, SIZES, Scope, TIMES, time_bound};
use serde_json::Value;

use crate::needs;
use crate::place::{JSON, Place};
use crate::process::Running;

/// Mounts the filesystem in `disk` at `at`, in a namespace of this shell's own.
const MOUNT: &str = "mkdir -p at && mount -o loop disk at";

/// Files of 16 MiB, one for each pattern, their blocks written before anything is recorded.
const LAY_OUT: &str = "truncate -s 256M disk && mkfs.ext4 -q -F disk && \
    exec unshare --mount --propagation private sh -ec 'MOUNT; \
    for it in random ordered log bursty steady; do \
      fio --name=$it --filename=at/$it --rw=write --bs=1M --size=16M --end_fsync=1 --output=laid.$it; \
    done; umount at'";

fn can_run() -> bool {
    needs::root()
        && ["fio", "mkfs.ext4", "unshare"]
            .into_iter()
            .all(needs::program)
}

/// Runs a shell script under the recorder where the filesystem is mounted; `None` where block I/O is not recorded
/// here.
fn recorded(script: &str) -> Option<Place> {
    let place = Place::new();
    let lay_out = LAY_OUT.replace("MOUNT", MOUNT);
    let laid = Running::start(place.shell(&lay_out)).end();
    if laid.status != 0 {
        needs::skip(&format!("no filesystem in a file: {}", laid.err_text()));
        return None;
    }
    // The shell has the files open all the time: fio may be done with one before anybody looks who has it open.
    let open = "exec 3<at/random 4<at/ordered 5<at/log 6<at/bursty 7<at/steady";
    place.script("load", &format!("set -e\n{MOUNT}\n{open}\n{script}"));
    let unshared = ["unshare", "--mount", "--propagation", "private", "./load"];
    let arguments = [
        &["run", "-q", "--no-report", "--json", JSON, "--"],
        &unshared[..],
    ]
    .concat();
    place.run(&arguments).status(0);
    let why = &place.opened().meta.cost.programs["block"];
    match why {
        Some(why) => {
            needs::skip(&format!("programs in the kernel: {why}"));
            None
        }
        None => Some(place),
    }
}

/// What fio says of a job in one direction.
struct Said(Value);

impl Said {
    fn of(place: &Place, job: &str, direction: &str) -> Self {
        let said: Value = serde_json::from_str(&place.read("fio.json")).expect("fio's JSON");
        let jobs = said["jobs"].as_array().expect("there are jobs");
        let own = jobs.iter().find(|it| it["jobname"] == job);
        Self(own.expect("it ran")[direction].clone())
    }

    fn number(&self, name: &str) -> i64 {
        self.0[name].as_i64().expect("fio counts it")
    }

    /// A quantile of the time of a request as fio measured it, ns.
    fn quantile(&self, name: &str) -> f64 {
        let ns = &self.0["clat_ns"]["percentile"][name];
        ns.as_f64().expect("fio times it")
    }

    fn total_ns(&self) -> f64 {
        let mean = self.0["clat_ns"]["mean"].as_f64();
        mean.expect("fio times it") * self.number("total_ios") as f64
    }
}

/// What was recorded of one stream in all.
struct Seen {
    row: Vec<i64>,
    most: i64,
}

impl Seen {
    /// The only stream of a kind whose name is, or ends in, a word.
    fn of(timeline: &Timeline, name: &str, scope: Scope, operation: Operation) -> Self {
        let has_codes = |record: &EntityRecord| {
            let code = |column| {
                let series = timeline.series(&BLOCK_IO.name, record.id, column);
                series
                    .and_then(|it| it.values().next())
                    .map(|(_, code)| code)
            };
            code("scope") == Some(scope as i64) && code("operation") == Some(operation as i64)
        };
        let streams = timeline.entities.of_kind(EntityKind::BlockStream);
        let mut streams = streams.filter(|it| it.entity.name.ends_with(name) && has_codes(it));
        let stream = streams.next().unwrap_or_else(|| panic!("{name} was seen"));
        assert!(streams.next().is_none(), "{name} is one stream");
        let data = timeline.table(&BLOCK_IO.name).expect("it was recorded");
        let rows = data.rows_of(stream.id).expect("it has rows");
        let row = |index: u32| data.row(index as usize).collect::<Vec<i64>>();
        let most = BLOCK_IO.position("in_flight_most").expect("a column");
        let (first, last) = (row(rows[0]), row(rows[rows.len() - 1]));
        assert!(first[3..12].iter().all(|it| *it == 0), "{name} began later");
        Self {
            most: rows.iter().map(|it| row(*it)[most]).max().unwrap_or(0),
            row: last,
        }
    }

    fn get(&self, column: &str) -> i64 {
        self.row[BLOCK_IO.position(column).expect("a column")]
    }

    /// What fio says; where other tests work on maps of programs meanwhile, the kernel may hide the end of a request, at
    /// most one in two hundred here.
    fn is(&self, column: &str, said: i64) {
        let missing = said - self.get(column);
        let largest = self.get("bytes") / self.get("requests") * i64::from(column == "bytes");
        let allowed = said / 200 + largest.max(1);
        assert!(
            (0..=allowed).contains(&missing),
            "{missing} of {said} {column}"
        );
    }

    fn share(&self, column: &str) -> f64 {
        self.get(column) as f64 / self.get("requests") as f64
    }

    /// Requests of at least `from` bytes, a bound of buckets, and less than twice that.
    fn of_size(&self, from: i64) -> i64 {
        self.get(&format!("size_under_{}_bytes", 2 * from))
    }

    /// What less than a share of the requests took longer than at the device, ns: the lower bound of a bucket.
    fn device_at_least(&self, q: f64) -> f64 {
        let counts = &self.row[BUCKETS_FROM + TIMES..][..TIMES];
        let all: i64 = counts.iter().sum();
        assert_eq!(all, self.get("requests"), "each is in one bucket");
        let mut below = 0;
        let bucket = counts.iter().position(|count| {
            below += count;
            below as f64 >= q * all as f64
        });
        let lower = bucket.and_then(|it| time_bound(it.checked_sub(1)?));
        lower.unwrap_or(0) as f64
    }

    /// fio's clock begins before the request does and ends behind it.
    fn is_no_slower_than(&self, said: &Said) {
        let ns = (self.get("queue_ns") + self.get("device_ns")) as f64;
        assert!(
            ns > 0.0 && ns <= said.total_ns(),
            "{ns}, {}",
            said.total_ns()
        );
        for (q, name) in [(0.5, "50.000000"), (0.99, "99.000000")] {
            let (seen, said) = (self.device_at_least(q), said.quantile(name));
            // fio's own buckets are 1/64 wide.
            assert!(seen <= 1.02 * said, "{name}: {seen}, {said}");
        }
    }
}

#[test]
fn order_sizes_depth_and_flushes_are_those_that_fio_made() {
    let patterns = "cat > jobs <<'END'
[global]
size=16M
[random]
filename=at/random
rw=randread
bs=4k
direct=1
ioengine=libaio
iodepth=8
[ordered]
stonewall
filename=at/ordered
rw=read
bs=128k
direct=1
[log]
stonewall
filename=at/log
rw=write
bs=16k
overwrite=1
fdatasync=1
number_ios=400
END
fio jobs --output-format=json --output=fio.json
sync -f at
fstrim -v at > trimmed";
    if !can_run() {
        return;
    }
    let Some(place) = recorded(patterns) else {
        return;
    };
    let recording = place.opened();
    let timeline = &recording.timeline;
    random_reads(&place, timeline);
    ordered_reads(&place, timeline);
    synced_log(&place, timeline);
    discards(&place, timeline);
    let report = place.report();
    let streams = report.disks.iter().flat_map(|it| &it.streams);
    let log: Vec<&IoPattern> = streams
        .filter(|it| it.name.ends_with("at/log") && it.operation == "write")
        .collect();
    // The window that is judged may leave it out.
    for log in log.iter().filter(|it| it.requests > 100) {
        assert_eq!(log.part, IoPart::Log, "{log:?}");
        assert_eq!((log.size_from, log.size_to), (Some(16_384), Some(16_384)));
    }
}

fn random_reads(place: &Place, timeline: &Timeline) {
    let said = Said::of(place, "random", "read");
    let seen = Seen::of(timeline, "at/random", Scope::File, Operation::Read);
    seen.is("bytes", said.number("io_bytes"));
    // Two neighbours may be in one plug, and are one request then.
    let merged = said.number("total_ios") - seen.get("requests");
    assert!((0..40).contains(&merged), "{merged}");
    assert!(seen.of_size(4_096) >= seen.get("requests") - 40);
    assert!(
        seen.share("sequential") < 0.05,
        "{}",
        seen.share("sequential")
    );
    assert_eq!(
        (seen.most, seen.get("errors"), seen.get("synced")),
        (8, 0, 0)
    );
    let depth = (seen.get("queue_ns") + seen.get("device_ns")) as f64 / seen.get("busy_ns") as f64;
    assert!((1.0..8.001).contains(&depth), "{depth}");
    seen.is_no_slower_than(&said);
}

fn ordered_reads(place: &Place, timeline: &Timeline) {
    let said = Said::of(place, "ordered", "read");
    let seen = Seen::of(timeline, "at/ordered", Scope::File, Operation::Read);
    seen.is("bytes", said.number("io_bytes"));
    // A file in several pieces gives a request more at each end.
    let pieces = seen.get("requests") - said.number("total_ios");
    assert!((-2..20).contains(&pieces), "{pieces}");
    assert!(seen.of_size(128 << 10) >= said.number("total_ios") - 20);
    assert!(
        seen.share("sequential") > 0.8,
        "{}",
        seen.share("sequential")
    );
    seen.is_no_slower_than(&said);
}

fn synced_log(place: &Place, timeline: &Timeline) {
    let said = Said::of(place, "log", "write");
    assert_eq!(said.number("total_ios"), 400);
    let seen = Seen::of(timeline, "at/log", Scope::File, Operation::Write);
    seen.is("bytes", said.number("io_bytes"));
    seen.is("requests", 400);
    assert_eq!(seen.of_size(16 << 10), seen.get("requests"));
    assert!(seen.share("sequential") > 0.95);
    assert!(seen.share("synced") > 0.95);
    // One whose end was hidden seems to go on.
    assert!(seen.most <= 2, "{}", seen.most);
    let of_scope =
        |scope, operation| sum(timeline, seen.get("device"), scope, operation, "requests");
    let parts = [Scope::File, Scope::Journal, Scope::Metadata, Scope::Unnamed];
    for operation in [Operation::Read, Operation::Write] {
        let all: i64 = parts.iter().map(|it| of_scope(*it, operation)).sum();
        for scope in [Scope::Device, Scope::Process] {
            assert_eq!(all, of_scope(scope, operation), "{scope:?} {operation:?}");
        }
    }
    for scope in [Scope::Process, Scope::Device] {
        let flushes = of_scope(scope, Operation::Flush);
        // A commit of the journal flushes for the fdatasync that waits for it.
        assert!(flushes >= 380, "fdatasync asks for one each: {flushes}");
    }
    const { assert!(SIZES == 10, "as `of_size` has it") };
}

/// A column of all streams of a device together.
fn sum(timeline: &Timeline, device: i64, scope: Scope, operation: Operation, column: &str) -> i64 {
    let data = timeline.table(&BLOCK_IO.name).expect("it was recorded");
    let newest = data.entities().map(|entity| {
        let rows = data.rows_of(entity).expect("it has rows");
        let row: Vec<i64> = data.row(rows[rows.len() - 1] as usize).collect();
        row
    });
    let place = |column| BLOCK_IO.position(column).expect("a column");
    let [devices, scopes, operations, column] = ["device", "scope", "operation", column].map(place);
    let own = newest.filter(|row| {
        let codes = [row[devices], row[scopes], row[operations]];
        codes == [device, scope as i64, operation as i64]
    });
    own.map(|row| row[column]).sum()
}

fn discards(place: &Place, timeline: &Timeline) {
    // at: 219.5 MiB (230191104 bytes) trimmed
    let said = place.read("trimmed");
    let bytes = said
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(' '));
    let bytes: i64 = bytes
        .and_then(|(bytes, _)| bytes.parse().ok())
        .expect("fstrim counts");
    let log = Seen::of(timeline, "at/log", Scope::File, Operation::Write);
    for scope in [Scope::Device, Scope::Process] {
        let seen = sum(
            timeline,
            log.get("device"),
            scope,
            Operation::Discard,
            "bytes",
        );
        assert_eq!(seen, bytes, "{scope:?}");
    }
}

/// The number of times as often as on average requests come in the interval that the average request comes in, by
/// fio's own log: a line for each request, its time in ms first.
fn bursts_by_fio(log: &str) -> f64 {
    const BIN_MS: u64 = 100;
    let mut counts = std::collections::BTreeMap::<u64, f64>::new();
    let mut last = 0;
    for line in log.lines() {
        let time = line.split(',').next().and_then(|it| it.trim().parse().ok());
        let time: u64 = time.expect("fio's log has a time");
        last = last.max(time);
        *counts.entry(time / BIN_MS).or_default() += 1.0;
    }
    let all: f64 = counts.values().sum();
    let crowding: f64 = counts.values().map(|count| count * (count - 1.0)).sum();
    crowding / BIN_MS as f64 / all / (all / last as f64)
}

#[test]
fn bursts_are_as_intense_as_fio_made_them() {
    let patterns = "cat > jobs <<'END'
[global]
size=16M
direct=1
ioengine=libaio
log_avg_msec=0
[bursty]
filename=at/bursty
rw=randwrite
overwrite=1
bs=8k
iodepth=4
number_ios=1000
thinktime=1500ms
thinktime_blocks=200
write_lat_log=bursty
[steady]
filename=at/steady
rw=randread
bs=4k
rate_iops=200
number_ios=1200
END
fio jobs --output-format=json --output=fio.json";
    if !can_run() {
        return;
    }
    let Some(place) = recorded(patterns) else {
        return;
    };
    let recording = place.opened();
    let jobs = [
        ("bursty", "write", Operation::Write),
        ("steady", "read", Operation::Read),
    ];
    for (job, direction, operation) in jobs {
        let name = format!("at/{job}");
        let seen = Seen::of(&recording.timeline, &name, Scope::File, operation);
        let said = Said::of(&place, job, direction);
        seen.is("bytes", said.number("io_bytes"));
    }
    // Over all of it: the window that is judged may hold a burst or two.
    place
        .run(&["explain", "--from", "0s", "--json", JSON])
        .status(0);
    let report = place.report();
    let streams: Vec<&IoPattern> = report.disks.iter().flat_map(|it| &it.streams).collect();
    let bursts = |name: &str| {
        let mut own = streams.iter().filter(|it| it.name.ends_with(name));
        own.next().and_then(|it| it.bursts).expect(name)
    };
    let (bursty, steady) = (bursts("at/bursty"), bursts("at/steady"));
    let by_fio = bursts_by_fio(&place.read("bursty_clat.1.log"));
    // A burst is shorter than an interval: one that an edge cuts in two counts half, and on a busy machine intervals
    // are longer than fio's.
    let ratio = bursty / by_fio;
    assert!((0.15..2.5).contains(&ratio), "{bursty}, by fio {by_fio}");
    assert!(bursty > 2.0 * steady, "{bursty}, {steady}");
    let sentences: Vec<&str> = report.disks.iter().map(|it| &*it.sentence).collect();
    assert!(
        sentences.iter().any(|it| it.contains("in bursts")),
        "{sentences:?}"
    );
}
