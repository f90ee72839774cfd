//! Laws of devices and predictions from them, as text.

pub mod predict;
pub mod probe;
