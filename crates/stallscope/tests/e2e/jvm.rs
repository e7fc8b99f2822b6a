//! What a real Java virtual machine counts about itself, without an option that names it.

use crate::needs;
use crate::place::Place;
use crate::postgres;
use crate::postgres_word::{growth, pid_of, sentences, values};
use crate::process::Running;

/// Allocates for some seconds in a small heap, and wants a full collection now and then.
const LOAD: &str = "public class Load {
    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        byte[][] kept = new byte[1000][];
        for (int i = 0; System.nanoTime() < end; i++) {
            kept[i % kept.length] = new byte[10_000];
            if (i % 100_000 == 0) System.gc();
        }
    }
}
";

#[test]
fn collections_and_safepoints_are_recorded_about_the_process() {
    if !needs::program("java") || !needs::program("javac") {
        return;
    }
    let _alone = postgres::alone();
    let place = Place::new();
    place.write("Load.java", LOAD);
    let words = ["run", "--", "java", "-Xmx64m", "Load.java", "6"];
    let ended = Running::start(place.stallscope(&words)).end();
    ended.status(0);
    let recording = place.opened();
    let timeline = &recording.timeline;
    assert_eq!(sentences(&recording.meta.gaps, "jvm"), [""; 0]);
    let data = timeline.table("jvm").expect("the generator is a JVM");
    let owner = data.key(0).1;
    assert!(pid_of(timeline, owner) > 0);
    let values = |column| values(timeline, "jvm", owner, column);
    let growth = |column| growth(timeline, "jvm", owner, column);
    for column in [
        "collector0_ns",
        "collector0_collections",
        "safepoint_ns",
        "safepoints",
        "application_ns",
    ] {
        assert!(growth(column) > 0, "{column}: {:?}", values(column));
    }
    // What the clock of the machine says bounds both together.
    let window = timeline.window.len_ns();
    assert!(growth("safepoint_ns") + growth("application_ns") <= window);
    let most = |column| values(column).into_iter().max();
    assert!(most("heap_capacity_bytes").is_some_and(|most| most < 65 << 20));
    assert!(most("heap_used_bytes").is_some_and(|most| most > 0));
    assert!(most("threads").is_some_and(|most| most > 1));
}

#[test]
fn a_jvm_that_hides_its_counters_is_a_gap() {
    if !needs::program("java") || !needs::program("javac") {
        return;
    }
    let _alone = postgres::alone();
    let place = Place::new();
    place.write("Load.java", LOAD);
    let java = ["java", "-XX:-UsePerfData", "-Xmx64m", "Load.java", "9"];
    let words = [&["run", "--"][..], &java].concat();
    Running::start(place.stallscope(&words)).end().status(0);
    let recording = place.opened();
    assert_eq!(sentences(&recording.meta.gaps, "jvm").len(), 1);
    assert!(recording.timeline.table("jvm").is_none());
}
