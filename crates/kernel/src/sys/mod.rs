//! Clocks, names, bounded reading and facts about this process. The whole crate uses them; they use only its errors.

pub(crate) mod clocks;
pub(crate) mod inherited_pipe;
pub mod name;
pub(crate) mod payload;
pub(crate) mod process_identity;
pub mod read_limited;
pub(crate) mod rights;
pub(crate) mod schedstat;
pub(crate) mod setuid;
pub(crate) mod signal_dispositions;
pub mod terminal;
