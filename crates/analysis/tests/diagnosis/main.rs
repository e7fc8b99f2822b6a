//! Diagnosis as its users see it: a drawn timeline in, a report out.

mod drawing;
mod gates;
mod golden;
mod healthy;
mod load;
mod neighbour;
mod pressure;
mod quota;
mod saturated;
mod windows;
