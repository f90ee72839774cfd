//! `--fill` and `--age`.

use clap::Args;

use campaign::targets::AgingSpec;
use campaign::targets::aging_spec::parse_fill;

/// Limit of `--age`: a day on a slow disk. Guess.
const MOST_CHURNS: u32 = 1_000_000;

/// The options of aging.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct AgingArguments {
    /// Fill the file systems of image: and new: to this level before the first round, as in 70%, with incompressible
    /// files of mixed sizes [default: not filled]. The files stay during the tests. Presets that would re-create the
    /// file system before each test remount it instead.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = parse_fill)]
    fill: Option<u32>,
    /// Age the file systems of image: and new: by N changes before the first round, filled to --fill or 70% [default:
    /// 0]. Each change removes a file, rewrites one at half its size, appends to one, and adds files up to the same
    /// level. --seed chooses the files. The time of aging does not count against --budget.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CHURNS)))]
    age: Option<u32>,
}

impl AgingArguments {
    /// The aging that the options ask for, if any.
    pub fn aging(self, seed: u64) -> Option<AgingSpec> {
        AgingSpec::from_options(self.fill, self.age, seed)
    }
}
