//! What diskperf's own code costs. There is nothing here but a benchmark (`benches/loops.rs`) and a count
//! of instructions (`tests/instructions.rs`); they are a crate of their own because both only mean
//! something in release, and the other tests' tools need not be built for that.
