//! The settings of a fio call that the conversion of other settings depends on. Rates become operations per second of
//! all jobs.

use std::ffi::OsString;

use clap::ValueEnum;
use jobs::fio::{self, Limits, OnlyOne};
use jobs::{LoadSpec, PatternName, SweptKey};

use super::zeros::is_zero;
use super::{Part, blocks, is_direct, setting};
use crate::cli;
use crate::cli::operands::operands;
use crate::error::ArgumentError;

/// The remark on a call with a size and without a time.
const SHORT_ROUND: &str = "without --runtime, fio ends after --size; a diskperf round takes at most 2 s (--time)";

/// A rate of all jobs, and a remark if it is rounded; `None` without a limit. A value that is not a rate of fio is
/// kept, so that the grammar refuses it.
type ConvertedRate = Result<Option<(String, Option<String>)>, ArgumentError>;

/// The settings of a call that the conversion of other settings depends on.
pub(super) struct Call {
    /// The pattern; `None` if it is missing or unknown: the grammar then refuses the call.
    pattern: Option<PatternName>,
    /// The number of jobs, which fio's rates are multiplied by. `None` if there are several numbers. 1 for any other
    /// text: the grammar refuses it.
    jobs: Option<u64>,
    /// The bytes of a block, if there is one size.
    pub(super) block: Option<u64>,
    /// A limit of fio on the rate.
    limit: Option<String>,
    /// True if fio's `rate_iops` would not limit operations, because there are several block sizes.
    is_paced_by_bytes: bool,
    /// True if the call has a size or a time.
    pub(super) has_end: bool,
    /// Differences between this call and the same one in fio: its end, its place after a ramp, and the defaults of
    /// missing options.
    pub(super) differences: Vec<&'static str>,
    /// Sizes that fio reads in another base, and that base.
    pub(super) other_bases: Vec<(String, u64)>,
}

impl Call {
    pub(super) fn of(parts: &[Part<'_>], is_choose: bool) -> Call {
        let of_fio = |names: &[&str]| {
            parts.iter().rev().find_map(|part| match part {
                Part::Setting(name, value) if names.contains(name) => Some(*value),
                _ => None,
            })
        };
        let words = || {
            parts.iter().filter_map(|part| match part {
                Part::Ours(word) => Some(*word),
                _ => None,
            })
        };
        let of_ours = |name: &str| {
            let mut rest = words().filter_map(|word| word.to_str());
            let given = rest.find_map(|word| setting(word).filter(|(own, _)| *own == name).map(|(_, given)| given))?;
            given.or_else(|| rest.next())
        };
        let pattern = of_fio(&["rw", "readwrite"]).map(str::to_owned).or_else(|| first_operand(words(), is_choose));
        let pattern = pattern.and_then(|name| PatternName::from_str(&name, false).ok());
        let sizes = of_fio(&["blocksize"]).or_else(|| of_ours("bs")).map(str::to_owned);
        let all_sizes = [sizes.as_deref(), of_ours("size"), of_fio(&["bssplit"])];
        let other_base = |sizes: &str| fio::other_base(sizes).map(|base| (sizes.to_owned(), base));
        let other_bases = all_sizes.into_iter().flatten().filter_map(other_base).collect();
        let sizes = sizes.or_else(|| of_fio(&["bssplit"]).map(blocks));
        let has_sizes = sizes.is_some();
        let is_mixed = sizes.as_deref().is_some_and(|sizes| sizes.contains(',') && !SweptKey::Bs.has_several(sizes));
        let is_paced_by_bytes = is_mixed && of_fio(&["rate_process"]) != Some("poisson");
        let block = || {
            let bs = sizes.map(|text| text.parse()).transpose().ok()?;
            LoadSpec { bs, ..LoadSpec::new(pattern?) }.block()
        };
        let jobs = of_fio(&["numjobs"]).or_else(|| of_ours("jobs")).unwrap_or("1");
        let jobs = (!SweptKey::Jobs.has_several(jobs)).then(|| jobs.parse().unwrap_or(1));
        let limit = of_fio(&["rate", "rate_iops"]).map(str::to_owned);
        let is_sequential = matches!(pattern, Some(PatternName::Read | PatternName::Write | PatternName::Commit));
        let is_timed = |part: &Part<'_>| matches!(part, Part::Needless("time_based", value) if *value != Some("0"));
        let is_random = pattern.is_some() && !is_sequential;
        let has_time = of_fio(&["runtime", "timeout"]).is_some_and(|time| !is_zero(time));
        let has_file_size = of_ours("size").is_some();
        let has_own_time = of_ours("time").is_some();
        let time_difference = match parts.iter().any(is_timed) {
            true if is_sequential && has_time => {
                Some("--time_based: a diskperf round also ends at the end of the file")
            }
            false if is_random && has_time && has_file_size => {
                Some("without --time_based, fio also ends after --size; a diskperf round takes the whole time")
            }
            _ if has_file_size && !has_time && !has_own_time => Some(SHORT_ROUND),
            _ => None,
        };
        let mut differences = Vec::from_iter(time_difference);
        let has_ramp = of_fio(&["ramp_time"]).is_some_and(|time| !is_zero(time)) || of_ours("warmup").is_some();
        if let Some(pattern) = pattern.filter(|_| has_ramp) {
            differences.extend(fio::after_ramp(pattern, is_direct(parts) || words().any(|word| word == "--direct")));
        }
        if !has_sizes && matches!(pattern, Some(PatternName::Read | PatternName::Write)) {
            differences.push("without --bs, fio uses blocks of 4 KiB");
        }
        let is_deep = of_ours("iodepth").is_some_and(|depth| depth != "1");
        if is_deep && of_fio(&["ioengine"]).or_else(|| of_ours("engine")).is_none() {
            differences.push("without --ioengine, fio has a queue depth of 1");
        }
        let block = block().map(|block| block.0).filter(|block| *block > 0);
        let has_end = has_file_size || has_time || has_own_time;
        Call { pattern, jobs, block, limit, is_paced_by_bytes, has_end, differences, other_bases }
    }

    /// True if nothing is written.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self.pattern, Some(PatternName::Read | PatternName::Randread))
    }

    /// True if reads and writes have a limit each.
    pub(super) fn has_two_rates(&self) -> bool {
        let pattern = PatternName::Randrw;
        let is_limit = |limits: Limits| !matches!(limits.rate(pattern, 1, 1), Ok(None));
        let is_rate = |text: &str| text.contains('/') || Limits::parse(text, fio::size).is_some_and(is_limit);
        self.pattern == Some(pattern) && self.limit.as_deref().is_some_and(is_rate)
    }

    /// The rate of all jobs for fio's operations per second of each job.
    pub(super) fn rate(&self, value: &str) -> ConvertedRate {
        let rate = self.rate_of_all("--rate_iops", value, 1, fio::size)?;
        let remark = self.is_paced_by_bytes.then(|| format!("--rate_iops={value}: {}", fio::PACED_BY_BYTES));
        Ok(rate.map(|(rate, rounded)| (rate, rounded.or(remark))))
    }

    /// The same for fio's bytes per second.
    pub(super) fn bandwidth(&self, value: &str) -> ConvertedRate {
        let is_bare = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        // Zero needs no unit.
        if is_bare && value.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
            return Err(ArgumentError::RateWithoutUnit(value.to_owned()));
        }
        self.rate_of_all("--rate", value, self.block.unwrap_or(1), |number| {
            let has_unit = number.ends_with(|end: char| end.is_ascii_alphabetic());
            fio::size(number).filter(|bytes| *bytes == 0 || has_unit && self.block.is_some())
        })
    }

    /// The rate of all jobs, for either option. `unit` is that of [`Limits::rate`].
    fn rate_of_all(
        &self,
        option: &'static str,
        value: &str,
        unit: u64,
        number: impl Fn(&str) -> Option<u64>,
    ) -> ConvertedRate {
        let Some((limits, pattern)) = Limits::parse(value, number).zip(self.pattern) else {
            return Ok(Some((value.to_owned(), None)));
        };
        let jobs = self.jobs.unwrap_or(1);
        match limits.rate(pattern, jobs, unit) {
            Err(OnlyOne) => Err(ArgumentError::RateOfOne { option, rate: value.to_owned() }),
            Ok(None) => Ok(None),
            Ok(Some(_)) if self.jobs.is_none() => Err(ArgumentError::RatePerJob { option, rate: value.to_owned() }),
            Ok(Some(rate)) => {
                let remark = || {
                    let what = "is not a whole number of operations per second";
                    format!("{option}={value} {what}: diskperf uses --rate {rate} for all jobs together")
                };
                Ok(Some((rate.to_string(), (!limits.is_whole(pattern, jobs, unit)).then(remark))))
            }
        }
    }
}

/// The first of these words that is neither an option nor the value of one: the pattern.
fn first_operand<'a>(words: impl Iterator<Item = &'a OsString>, is_choose: bool) -> Option<String> {
    let mut all = cli::command();
    all.build();
    let commands = [Some("io"), is_choose.then_some("choose")];
    let commands: Vec<_> = commands.into_iter().flatten().filter_map(|name| all.find_subcommand(name)).collect();
    operands(&commands, words).next().and_then(|(_, word)| word.to_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_name_differences_from_fio() {
        let remarks = |line: &str| {
            let words: Vec<OsString> = format!("diskperf io {line}").split_whitespace().map(OsString::from).collect();
            super::super::translated(&words).expect("a call of fio").remarks
        };
        for (line, said) in [
            ("--rw=randread --bssplit=4KiB/60:64KiB/40", "fio reads 4KiB/60:64KiB/40 as powers of 1000"),
            ("--rw=randrw --rate_iops=7,3 --rwmixread=50", "--rwmixread=50 has no effect"),
            ("--rw=randread --rate_process=poisson", "--rate_process=poisson has no effect"),
            ("--rw=randread --bs=64k --rate=100k --numjobs=4", "diskperf uses --rate 6 for all jobs together"),
            ("--rw=randread --bs=64k --rate=1k", "diskperf uses --rate 1 for all"),
            ("--rw=randread --bssplit=4k/60:64k/40 --rate_iops=9", "--rate_iops=9: fio up to 3.41 paces by bytes"),
            ("--rw=read --bs=1m --runtime=60 --time_based", "--time_based: a diskperf round also ends at the end of"),
            ("--rw=randread --size=1048576 --runtime=60", "without --time_based, fio also ends after --size"),
            ("commit --runtime=60 --time_based=1", "--time_based: a diskperf round also ends at the end of"),
            ("--rw=write --runtime=60", "without --bs, fio uses blocks of 4 KiB"),
            ("--rw=randread --iodepth=32", "without --ioengine, fio has a queue depth of 1"),
            ("--rw=read --bs=4k --size=1g", "without --runtime, fio ends after --size; a diskperf round takes at most"),
            ("--rw=randread --size 1g --runtime=0", "without --runtime, fio ends after --size"),
            ("--rw=read --bs=4k --ramp_time=5", "at the beginning of the file, which is then in the page cache"),
            ("commit --runtime=9 --ramp_time=5", "fio continues where the ramp ended"),
        ] {
            let remarks = remarks(line);
            assert!(remarks.len() == 1 && remarks[0].contains(said), "{remarks:?}");
        }
        let direct = remarks("--rw=read --bs=4k --direct=1 --ramp_time=5");
        assert!(direct.len() == 1 && direct[0].ends_with("at the beginning of the file"), "{direct:?}");
        for line in [
            "--rw=read --bs=4k",
            "--rw=randread --bs=64k --rate=16k --numjobs=4",
            "--rw=randread --bssplit=4k/60:64k/40 --rate_iops=9 --rate_process=poisson",
            "--rw=randread --runtime=60 --time_based",
            "--rw=read --blocksize=4k --runtime=60 --time_based=0",
            "--rw=read --bssplit=4k/60:64k/40 --runtime=60",
            "--rw=read --bs 4k --time_based",
            "--rw=randread --bs=4k,64k --rate_iops=9",
            "--rw=read --bs=4k --size=1g --time 5s",
            "--rw=randread --ramp_time=5",
            "--rw=read --bs=4k --ramp_time=0",
            "--rw=randread --iodepth=1",
            "--rw=randread --iodepth 32 --ioengine=libaio",
            "--rw=randread --iodepth=32 --engine uring",
        ] {
            let remarks = remarks(line);
            assert!(remarks.is_empty(), "{line}: {remarks:?}");
        }
    }
}
