//! Lines on standard output. A pipe that its reader has closed (`| head`) ends nothing: what was begun is
//! done, and cleaned up after, and the status says how it went.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _};

/// Prints a line, as `println!` does.
macro_rules! say {
    () => { $crate::print::line(format_args!("")) };
    ($($words:tt)*) => { $crate::print::line(format_args!($($words)*)) };
}
pub(crate) use say;

/// See `say!`.
///
/// # Panics
/// When it cannot be written otherwise, as `println!` does.
pub fn line(words: Arguments<'_>) {
    match writeln!(std::io::stdout(), "{words}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            panic!("cannot write to standard output: {error}")
        }
        _ => {}
    }
}
