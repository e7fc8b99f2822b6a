//! What other programs say of themselves over the network.
//!
//! Clients only, with their heavy dependencies kept apart here. They answer in the words of the
//! program that they ask; what becomes a row, and whose, is decided elsewhere. They open no file and
//! read no environment: what they need of either is asked for.
#![warn(missing_docs)]

pub mod postgres;
