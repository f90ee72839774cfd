//! File systems: where the blocks of a file lie. Decisions only; no time passes here.

pub(crate) mod ffs;
