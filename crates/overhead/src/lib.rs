//! The overhead of diskperf's own code. This crate has only benchmarks (`benches/loops.rs` and others) and counts of
//! instructions (`tests/instructions.rs` and others). It is a crate of its own because they are only meaningful in
//! release builds, so that the other tests' tools need not be built for that.
