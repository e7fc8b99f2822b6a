//! Tells what a Linux system is waiting for, who waits, why, and what would change it.
//!
//! Everything is in the library beside it, where the fuzzer can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    stallscope::main()
}
