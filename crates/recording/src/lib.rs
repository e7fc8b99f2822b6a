//! A run on disk.
