//! What each control group uses, is allowed and is denied; v1, v2 and hybrid layouts.
//!
//! A group of one path in several hierarchies is one entity. Where a file tells both, numbers are of
//! the group and those below it (v1 `total_*`, `_recursive`; v2 has no others), and limits are its own.

pub(crate) mod cpu;
pub(crate) mod io;
pub(crate) mod limit;
pub(crate) mod memory;
