//! File systems: the placement of a file's blocks. They only decide; no time passes here.

pub(crate) mod ffs;
