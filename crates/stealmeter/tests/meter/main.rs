//! The meter as its users meet it: on real threads, in a runtime, from C.
#![allow(clippy::print_stdout)]

mod accounting;
mod c_abi;
mod examples;
mod needs;
mod runtime;
mod without_proc;
