//! `explain A.stall B.stall`: recordings of several nodes in one report. The nodes are two servers of this machine, each with
//! an address of its own, in a network namespace in which nobody else is.

use model::{ClusterReport, NodeClock};

use crate::needs;
use crate::place::{JSON, Place};
use crate::postgres;

/// The front asks the back for each request; both are recorded while a load runs.
const SCRIPT: &str = r#"
set -e
servers=
trap 'kill $servers' EXIT
ip link set lo up
ip addr add 10.77.0.1/32 dev lo
ip addr add 10.77.0.2/32 dev lo
head -c 60000 /dev/urandom | base64 > file
for name in front back; do
    mkdir $name
    {
        echo "daemon off; master_process off; pid $PWD/$name/pid; events {}"
        echo "http { access_log off;"
        for each in client_body proxy fastcgi uwsgi scgi; do echo "${each}_temp_path $PWD/$name/$each;"; done
        cat $name.part
        echo "}"
    } > $name.conf
    nginx -e stderr -p "$PWD" -c "$PWD/$name.conf" &
    servers="$servers $!"
done
sleep 1
"$STALLSCOPE" record --quiet --no-report --target port:8702 --for 11s -o back.stall &
back=$!
"$STALLSCOPE" record --quiet --target port:8701 --for 11s -o front.stall &
front=$!
sleep 1
# Then the connections between both rest.
ab -q -k -c 4 -t 8 -n 10000000 -H 'Accept-Encoding: gzip' http://10.77.0.1:8701/file > load
wait $back $front
"#;

/// A folder with front.stall and back.stall.
fn recorded() -> Place {
    let place = Place::new();
    place.write(
        "front.part",
        "upstream back { server 10.77.0.2:8702; keepalive 8; }\nserver { listen 10.77.0.1:8701; location / {\n\
         proxy_pass http://back; proxy_http_version 1.1; proxy_set_header Connection \"\"; } }\n",
    );
    // Each request is work there.
    let folder = place.path().display();
    place.write(
        "back.part",
        format!(
            "default_type text/plain; gzip on; gzip_comp_level 9; gzip_min_length 1; gzip_types text/plain; gzip_proxied any;\n\
             server {{ listen 10.77.0.2:8702; root {folder}; }}\n"
        ),
    );
    place.write("both.sh", SCRIPT);
    place.open_to("", 0o755);
    let ran = place
        .shell("exec unshare --net sh both.sh")
        .env("STALLSCOPE", env!("CARGO_BIN_EXE_stallscope"))
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    place
}

/// What is known of the second node's clock, which is `ahead_ns` ahead.
fn clock(report: &ClusterReport, ahead_ns: i64) -> &NodeClock {
    let [clock] = &*report.clocks else {
        panic!("two nodes, one clock beside the first: {:?}", report.clocks)
    };
    let known = clock.least_ns.zip(clock.most_ns);
    let (least, most) = known.expect("both ends of the connections were recorded");
    assert!((least..=most).contains(&ahead_ns), "{clock:?}");
    // Within ticks and a reading's length where the connections rest.
    assert!(most - least < 200_000_000, "{clock:?}");
    clock
}

/// The back's clock as if it had been set wrong.
fn a_wrong_clock_is_corrected(place: &Place) {
    const AHEAD_NS: i64 = 3_000_000_000;
    const NAME: &str = "\"anchor_realtime_ns\": ";
    let meta = place.read("back.stall/meta.json");
    let (before, after) = meta.split_once(NAME).expect("when it began");
    let (number, after) = after.split_once(',').expect("a number");
    let number: i64 = number.parse().expect("a number");
    place.write(
        "back.stall/meta.json",
        format!("{before}{NAME}{},{after}", number + AHEAD_NS),
    );
    let words = ["explain", "front.stall", "back.stall", "--json", JSON];
    place
        .run(&words)
        .status(0)
        .says("its checksum does not fit");
    let report: ClusterReport = serde_json::from_str(&place.read(JSON)).expect("a report");
    let clock = clock(&report, AHEAD_NS);
    assert!((clock.ahead_ns - AHEAD_NS).abs() < 100_000_000, "{clock:?}");
    assert!(clock.sentence.contains("ahead of front's"), "{clock:?}");
}

#[test]
fn a_wait_on_another_node_is_followed_there() {
    if !needs::root()
        || !["nginx", "ab", "ip", "unshare"]
            .iter()
            .all(|it| needs::program(it))
    {
        return;
    }
    let _alone = postgres::alone();
    let place = recorded();
    let words = [
        "explain",
        "front.stall",
        "back.stall",
        "--json",
        JSON,
        "-o",
        "page.html",
    ];
    let ended = place.run(&words);
    ended.status(0);
    let report: ClusterReport = serde_json::from_str(&place.read(JSON)).expect("a report");
    let names: Vec<&str> = report.nodes.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["front", "back"]);
    let [calls, ..] = &*report.calls else {
        panic!("{}", ended.out_text())
    };
    assert_eq!(
        (&*calls.from, &*calls.to, &*calls.address),
        ("front", "back", "10.77.0.2:8702")
    );
    assert!(calls.per_second > 10.0 && calls.mean_ns > 1e5, "{calls:?}");
    for node in &report.nodes {
        assert!(node.verdict.is_some(), "{node:?}");
        let busy = node.means["cpu_busy"];
        assert!(busy > 0.1 && busy <= 1.01, "{busy}");
    }
    // Which verdict is the surest depends on what else runs on the machine, whose pressure is that of both: it may be the
    // limit of both.
    let none_of_both = report.phases.iter().all(|it| it.limits == ["none"]);
    let waits = "front waits for back at 10.77.0.2:8702";
    let first = report.nodes.iter().map(|it| format!("{}: ", it.name));
    let mut first = first.filter(|it| report.sentence.starts_with(&**it));
    let of_one = first.next().is_some();
    assert!(of_one || !none_of_both, "{}", report.sentence);
    assert!(report.sentence.contains(waits), "{}", report.sentence);
    let page = place.read("page.html");
    assert!(page.contains(waits));
    assert!(page.contains("<a href=\"front.stall/report.html\">front</a>"));
    assert_eq!(clock(&report, 0).ahead_ns, 0, "{:?}", report.clocks);
    a_wrong_clock_is_corrected(&place);
    place
        .run(&["explain", "front.stall", "back.stall", "--stacks"])
        .status(2)
        .says("about one recording");
    place
        .run(&["explain", "front.stall", "-o", "x.html"])
        .status(2)
        .says("stallscope report");
}
