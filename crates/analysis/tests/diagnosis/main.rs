//! Diagnosis as its users see it: a drawn timeline in, a report out.

mod accounting;
mod cache;
mod clients;
mod cores;
mod disk;
mod drawing;
mod every;
mod gates;
mod golden;
mod healthy;
mod idle;
mod innocent;
mod load;
mod locks;
mod memory;
mod neighbour;
mod network;
mod over_time;
mod phases;
mod pressure;
mod quota;
mod renaming;
mod robustness;
mod saturated;
mod whose;
mod windows;
