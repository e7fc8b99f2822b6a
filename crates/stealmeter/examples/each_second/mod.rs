//! What all the example loops share: another thread that prints the counters once a second.

use std::thread;
use std::time::Duration;

use stealmeter::{Counters, Reader};

/// Prints what each second was made of, in milliseconds. Ends with the program.
pub fn print(reader: Reader) {
    thread::spawn(move || {
        let mut before = Counters::default();
        loop {
            thread::sleep(Duration::from_secs(1));
            let now = reader.read().counters;
            println!("{}", line(&now.since(&before)));
            before = now;
        }
    });
}

fn line(second: &Counters) -> String {
    let ms = |ns: u64| ns as f64 / 1e6;
    let classes = second.classes().into_iter();
    let classes: String = classes
        .map(|(name, ns)| format!("{name} {:.3}  ", ms(ns)))
        .collect();
    format!("{classes}wall {:.3} ms", ms(second.wall_ns()))
}
