//! Devices with a law as data: `machines/device/*.toml`, and the files that `probe` writes.
//!
//! ```text
//!   *.toml ── read ──> figures (value, source) ── law ──> DeviceLaw        figures ── write ──> *.toml
//!                         ^── setting (--set)
//! ```
//!
//! Each figure has a key. `keys` lists them with their units. A figure is a number, a table of times by size, a word,
//! `none` if the device has no such mechanism, or `n.m.` with a reason.

mod keys;
mod law;
mod read;
mod setting;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

use kernel::sys::name::original;
use simulator::description::DeviceLaw;
use units::Nanos;

use crate::builtin;
use crate::fault::{MachineFault, Place};
use crate::machine_file::MachineFile;
use crate::part::Source;

/// A device's file: its figures, and the law that follows from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFile {
    /// The display name.
    pub name: String,
    /// Where and when it was measured. `None` if its figures come from publications, not from a computer.
    pub measured_on: Option<MeasuredOn>,
    figures: BTreeMap<String, Figure>,
    law: DeviceLaw,
}

/// Where and when a device was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredOn {
    /// The name of the computer.
    pub host: String,
    /// The day: `2026-11-24`.
    pub date: String,
    /// The device or path.
    pub target: String,
}

/// A figure of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A number in the simulator's units: nanoseconds, bytes, bytes per second, picoseconds per byte, thousandths of a
    /// request per second.
    Number {
        /// The number.
        value: u64,
        /// The lowest and the highest possible value.
        range: Option<(u64, u64)>,
        /// Its source.
        origin: Origin,
    },
    /// Times by size.
    Table {
        /// The times, ascending by size.
        points: Vec<Point>,
        /// Their source.
        origin: Origin,
    },
    /// One of a few words.
    Word {
        /// The word.
        word: String,
        /// Its source.
        origin: Origin,
    },
    /// The device has no such mechanism.
    None {
        /// The source of this fact.
        origin: Origin,
    },
    /// Not measured.
    Unmeasured {
        /// The reason.
        reason: String,
    },
}

/// The time of a request of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The size.
    pub bytes: u32,
    /// The time.
    pub time: Nanos,
    /// The lowest and the highest possible time.
    pub range: Option<(Nanos, Nanos)>,
}

/// The source of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The kind of source.
    pub source: Source,
    /// The publication, reason, fit or run.
    pub from: String,
    /// Number of samples of a measured figure.
    pub samples: Option<u64>,
}

impl Origin {
    /// A measured figure: the run and the statistic, such as `probe 7c1e, 20th percentile`, and the number of samples.
    pub fn measured(from: &str, samples: u64) -> Origin {
        Origin { source: Source::Measured, from: from.to_owned(), samples: Some(samples) }
    }

    /// An inferred figure, with the reason.
    pub fn inferred(from: &str) -> Origin {
        Origin { source: Source::Inferred, from: from.to_owned(), samples: None }
    }
}

impl Figure {
    /// A number without a range.
    pub fn number(value: u64, origin: Origin) -> Figure {
        Figure::Number { value, range: None, origin }
    }

    /// A figure that was not measured.
    pub fn unmeasured(reason: &str) -> Figure {
        Figure::Unmeasured { reason: reason.to_owned() }
    }

    /// The source; `None` if it was not measured.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Figure::Number { origin, .. }
            | Figure::Table { origin, .. }
            | Figure::Word { origin, .. }
            | Figure::None { origin } => Some(origin),
            Figure::Unmeasured { .. } => None,
        }
    }
}

impl DeviceFile {
    /// Loads a device by name or from a file. A word with a slash or ending in `.toml` is a path.
    pub fn load(name: &str) -> Result<DeviceFile, MachineFault> {
        if name.contains('/') || name.ends_with(".toml") {
            return read::file(&MachineFile::open(Path::new(&original(name)))?);
        }
        match builtin::DEVICES.iter().find(|file| file.name == name) {
            Some(file) => read::file(&MachineFile::builtin(file)),
            None => Err(MachineFault::UnknownDevice { name: name.to_owned(), known: DeviceFile::names() }),
        }
    }

    /// The names of the compiled-in devices.
    pub fn names() -> Vec<&'static str> {
        builtin::names(builtin::DEVICES)
    }

    /// Reads the text of a device's file. Faults name `path`.
    pub fn read(text: &str, path: &str) -> Result<DeviceFile, MachineFault> {
        read::file(&MachineFile::of_text(path, text))
    }

    /// Builds a device from its figures. Every key of `machines/README.md` must be there, even if it is `n.m.` or
    /// `none`.
    pub fn compose(
        name: &str,
        measured_on: Option<MeasuredOn>,
        figures: impl IntoIterator<Item = (String, Figure)>,
    ) -> Result<DeviceFile, MachineFault> {
        let figures: BTreeMap<String, Figure> = figures.into_iter().collect();
        let law = law::law(name, &figures, &|_| Place::Typed(name.to_owned()))?;
        Ok(DeviceFile { name: name.to_owned(), measured_on, figures, law })
    }

    /// The law.
    pub fn law(&self) -> &DeviceLaw {
        &self.law
    }

    /// The law if the buckets with a measured rate and an unmeasured burst hold no credit. [`DeviceFile::law`] leaves
    /// them out.
    pub fn without_credit(&self) -> DeviceLaw {
        let place = |_: &str| Place::Typed(self.name.clone());
        law::without_credit(&self.name, &self.figures, &place).expect("the law was built from these figures")
    }

    /// The figure with that key, such as `read_latency`, `flush.base` or `bucket.requests.rate`.
    pub fn figure(&self, key: &str) -> Option<&Figure> {
        self.figures.get(key)
    }

    /// All figures with their keys, in the order of the file.
    pub fn figures(&self) -> impl Iterator<Item = (&str, &Figure)> {
        let mut keys: Vec<&String> = self.figures.keys().collect();
        keys.sort_by_key(|key| keys::place(key));
        keys.into_iter().map(|key| (key.as_str(), &self.figures[key]))
    }

    /// The keys that were not measured, with the reasons. The law does not model them.
    pub fn unmeasured(&self) -> impl Iterator<Item = (&str, &str)> {
        self.figures().filter_map(|(key, figure)| match figure {
            Figure::Unmeasured { reason } => Some((key, reason.as_str())),
            _ => None,
        })
    }

    /// Returns the file's text.
    pub fn to_toml(&self) -> String {
        write::text(self)
    }
}
