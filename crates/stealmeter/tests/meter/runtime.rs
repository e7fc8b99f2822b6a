//! The workers of a tokio runtime, each with a meter of its own.

use std::sync::Arc;
use std::time::Duration;

use stealmeter::{Format, Registry, ThreadHooks};

/// The value of a sample in nanoseconds.
fn sample(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().replace('.', "").parse().ok()
}

#[test]
fn each_worker_is_metered_from_its_first_park_to_the_end_of_its_thread() {
    let registry = Arc::new(Registry::new());
    let hooks = ThreadHooks::new("test", Arc::clone(&registry));
    let (on_park, on_unpark) = (hooks.clone(), hooks.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .on_thread_park(move || on_park.park())
        .on_thread_unpark(move || on_unpark.unpark())
        .build()
        .expect("a runtime");
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let hooks = hooks.clone();
            runtime.spawn(async move {
                for _ in 0..20 {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    hooks.tick();
                }
            })
        })
        .collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("a task without a panic");
        }
    });
    let text = registry.text(Format::Prometheus);
    let mut slept_ns = 0;
    for thread in ["0", "1"] {
        let labels = format!("{{runtime=\"test\",thread=\"{thread}\"");
        let of_class = |class: &str| {
            let name = format!("stealmeter_seconds_total{labels},class=\"{class}\"}}");
            sample(&text, &name).unwrap_or_else(|| panic!("no {name} in {text}"))
        };
        let classes = ["cpu", "run_queue", "sleep", "blocked", "hidden"];
        let sum_ns: u64 = classes.into_iter().map(of_class).sum();
        let wall_ns = sample(&text, &format!("stealmeter_wall_seconds_total{labels}}}"));
        assert_eq!(wall_ns, Some(sum_ns), "{text}");
        slept_ns += of_class("sleep");
    }
    assert!(slept_ns > 0, "{text}");
    drop(runtime);
    assert!(
        !registry.text(Format::Prometheus).contains("thread="),
        "its threads are gone"
    );
}
