//! The only crate that touches the kernel.
