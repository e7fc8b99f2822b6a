//! Meters in the workers of a tokio runtime: the hooks, and the text that Prometheus would scrape.
//!
//! Two closures on the builder are all there is to it. A worker's meter begins when it first parks and
//! ends with its thread.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use stealmeter::{Format, Registry, ThreadHooks};

fn main() -> std::io::Result<()> {
    let seconds = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let registry = Arc::new(Registry::new());
    let hooks = ThreadHooks::new("main", Arc::clone(&registry));
    let (on_park, on_unpark) = (hooks.clone(), hooks);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .on_thread_park(move || on_park.park())
        .on_thread_unpark(move || on_unpark.unpark())
        .build()?;
    for _ in 0..4 {
        runtime.spawn(request_after_request());
    }
    for _ in 0..seconds.unwrap_or(10) {
        std::thread::sleep(Duration::from_secs(1));
        println!("{}", registry.text(Format::OpenMetrics));
    }
    Ok(())
}

/// Thinks for 10 ms, then keeps a CPU busy for 2.
async fn request_after_request() {
    loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
    }
}
