//! Diagnosis as its users see it: a drawn timeline in, a report out.

mod accounting;
mod drawing;
mod gates;
mod golden;
mod healthy;
mod load;
mod neighbour;
mod phases;
mod pressure;
mod quota;
mod renaming;
mod robustness;
mod saturated;
mod windows;
