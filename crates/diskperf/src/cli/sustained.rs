//! `--sustained`: the load of each target before the first round.

use clap::Args;
use units::Nanos;

use super::values::parse_time;

/// An option of the commands that run tests of diskperf.
#[derive(Clone, Debug, Default, Args)]
pub struct SustainedArguments {
    /// Load each target for this long before the first round, as in 2min. The load is the test that writes most or, if
    /// all tests only read, the first. It uses up burst credits and fills caches. Not part of --budget. If several
    /// targets take turns, each is also loaded before every test, for half of the run [default: no load].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    sustained: Option<Nanos>,
}

impl SustainedArguments {
    /// The time of the load; `None` for no load.
    pub fn time(&self) -> Option<Nanos> {
        self.sustained
    }
}
