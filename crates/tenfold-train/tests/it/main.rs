//! The engine of trains, against closed forms, brute force and the classical algorithm.

mod adversarial;
mod arithmetic;
mod bound;
mod closed_forms;
mod edges;
mod reference;
mod repeat;
mod sources;
mod support;
