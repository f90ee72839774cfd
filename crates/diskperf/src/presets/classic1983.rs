//! The experiment of Kridle & McKusick 1983: four programs, eight megabytes, three rounds of which the
//! first only clears the way.

use units::Bytes;
use workload::programs::mckusick::{BYTES_1983, Classic};

use super::{KBYTES_PER_SEC, Preset, Settings};
use crate::error::Error;
use crate::plan::Row;
use crate::runner::{Claim, How};
use crate::target::Target;

pub const PRESET: Preset = Preset {
    name: "classic1983",
    about: "the four programs of Kridle & McKusick 1983, to the letter: 8 MiB, three rounds, the first discarded",
    rounds: 3,
    discard_first: true,
    must_agree: true,
    together: true,
    how: How { claim: Claim::Returned, timed: false },
    rows,
    findings: super::none,
};

fn rows(settings: &Settings, _: &Target) -> Result<Vec<Row>, Error> {
    let size = settings.size_in_calls(Bytes(BYTES_1983), 8192)?;
    Ok(Classic::ALL.map(|classic| Row::new(classic.program(size), KBYTES_PER_SEC)).into())
}
