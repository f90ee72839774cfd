//! `--mix` and `--from-trace`: the mix of accesses for the preset `vaxmix`, typed or derived from a block trace.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use campaign::presets::{self, Preset};
use clap::Args;
use jobs::blktrace::{self, Derived};
use kernel::PathFault;
use kernel::sys::name::Shown;
use kernel::sys::read_limited;
use workload::Mix;

use crate::documents::{inputs, user_files};
use crate::error::{ArgumentError, Error};
use crate::ui::output;

/// Options of `run` and `simulate` for a mix of accesses.
#[derive(Clone, Debug, Default, Args)]
pub struct MixArguments {
    /// Mix of accesses for vaxmix, instead of its own two, as in bs=512B:20,8KiB:80,reads=67.
    ///
    /// bs and order: as in `diskperf io`. reads: percentage of reads. rate=50: repeat the mix at 50 accesses per
    /// second, to measure response times. sizes=512B:1+8KiB:4: access sizes with any weights, instead of bs.
    /// hot=60/10: 60 % of the accesses go to the first 10 % of the file. near=20: 20 % are within 64 KiB of the access
    /// before. A key that is left out has its value in uniform_mix.
    #[arg(long, value_name = "MIX")]
    mix: Option<Mix>,
    /// Derive the mix from a block trace in FILE, the output of blkparse, and print it. diskperf counts the queued
    /// requests (Q) of the busiest device; if the trace has none, the issued ones (D).
    #[arg(long, value_name = "FILE", conflicts_with = "mix")]
    from_trace: Option<PathBuf>,
}

impl MixArguments {
    /// The mix, and whether it was derived from a trace; `None` without either option. Prints a derived mix.
    pub fn mix(&self, preset: &Preset) -> Result<Option<(Mix, bool)>, Error> {
        if (self.mix.is_some() || self.from_trace.is_some()) && preset.name != presets::VAXMIX.name {
            return Err(ArgumentError::NoMix(preset.name).into());
        }
        match &self.from_trace {
            Some(path) => {
                let derived = derive(path)?;
                output::remark(&format!("{}: {derived}", path.shown()));
                Ok(Some((derived.mix, true)))
            }
            None => Ok(self.mix.map(|mix| (mix, false))),
        }
    }
}

fn derive(path: &Path) -> Result<Derived, Error> {
    let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
    let metadata = user_files::existing(path)?;
    if metadata.is_dir() {
        return Err(PathFault::IsADirectory(path.to_owned()).into());
    }
    if user_files::is_device(&metadata) {
        return Err(PathFault::NotAFile(path.to_owned()).into());
    }
    inputs::will_read(path)?;
    let file = read_limited::open_named(path).map_err(unreadable)?;
    let derived = blktrace::derive(&path.shown(), BufReader::new(file)).map_err(unreadable)?;
    Ok(derived?)
}
