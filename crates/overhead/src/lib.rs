//! The overhead of diskperf's own code. This crate has only benchmarks (`benches/loops.rs` and others) and counts of
//! instructions (`tests/instructions.rs` and others). It is a crate of its own so that a release build of them does not
//! need the tools of the other tests.
