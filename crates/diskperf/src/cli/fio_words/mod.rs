//! fio's options in a call of `diskperf io`, or after `io` in a call of `choose`. Each becomes an option of diskperf,
//! and diskperf prints the resulting call. Options with the same meaning in both programs stay as they are.

mod call;
mod formats;
mod place;
mod zeros;

use std::ffi::OsString;

use jobs::fio::{self, Form};
use units::Bytes;

use self::call::Call;
use self::formats::formats;
use self::place::{eviction, is_given, place};
use self::zeros::{is_zero, remove_zero_syncs};
use super::own_load;
use crate::cli;
use crate::documents::store_arguments::parse_name;
use crate::error::ArgumentError;

/// Settings with an effect that always have a value in fio.
const WITH_VALUE: [&str; 23] = [
    "name",
    "directory",
    "filename",
    "rate",
    "rw",
    "readwrite",
    "blocksize",
    "bssplit",
    "numjobs",
    "runtime",
    "ramp_time",
    "timeout",
    "loops",
    "rwmixread",
    "rwmixwrite",
    "ioengine",
    "rate_iops",
    "rate_process",
    "thinktime",
    "thinktime_blocks",
    "random_distribution",
    "randseed",
    "output-format",
];

/// Settings by which a call without a command is recognized as one of fio.
const TELLING: [&str; 9] =
    ["rw", "readwrite", "ioengine", "numjobs", "rwmixread", "filename", "rate_iops", "group_reporting", "blocksize"];

/// Options of diskperf that also exist in fio, but with other values: in fio, a switch has 0 or 1.
const SWITCHES: [&str; 5] = ["direct", "buffered", "sync", "pre_read", "invalidate"];

/// A fio call, converted to the words of diskperf.
pub struct Translated {
    pub words: Vec<OsString>,
    /// Differences from the fio call that you would not expect.
    pub remarks: Vec<String>,
    /// The reason why the call is refused.
    pub fault: Option<ArgumentError>,
}

/// A part of a call.
enum Part<'a> {
    /// A word of diskperf, or one that the grammar refuses.
    Ours(&'a OsString),
    /// A setting and its value.
    Setting(&'a str, &'a str),
    /// A setting of fio without an effect here, and its value.
    Needless(&'a str, Option<&'a str>),
}

/// Converts a call to the words of diskperf. Returns `None` if it has no word of fio.
pub fn translated(words: &[OsString]) -> Option<Translated> {
    let head = command(words)?;
    let parts = parts(&words[head..]);
    let is_of_fio = |part: &Part<'_>| match part {
        Part::Ours(_) => false,
        // diskperf has these two options, too.
        Part::Setting(name, _) => *name != "name" && *name != "rate",
        Part::Needless(..) => true,
    };
    if !parts.iter().any(is_of_fio) {
        return None;
    }
    let call = Call::of(&parts, words[1] == "choose");
    let (mut pattern, mut ours) = (None, Vec::<OsString>::new());
    let (mut directory, mut file) = (None, None);
    let is_direct = is_direct(&parts);
    let (mut remarks, mut arrivals, mut invalidates) = (Vec::new(), None, true);
    let job_count = number_of_jobs(&parts);
    let mut fault = (job_count > 1).then_some(ArgumentError::SeveralJobs(job_count));
    for part in parts {
        let Part::Setting(name, value) = part else {
            ours.extend(match part {
                Part::Ours(word) => Some(word.clone()),
                _ => None,
            });
            continue;
        };
        match name {
            // In fio, the options after it apply to all jobs.
            "name" if job_count > 0 && fio::is_global(value) => {}
            // A name that fio accepts and diskperf does not is left out.
            "name" => {
                if let Some(value) = parse_name(value).ok().filter(|_| !ours.iter().any(|word| word == "--name")) {
                    ours.extend(["--name".into(), value.into()]);
                }
            }
            "direct" | "buffered" => {
                let is_new = !ours.iter().any(|word| word == "--direct");
                ours.extend((is_direct && is_new).then(|| "--direct".into()));
            }
            // In fio too, the last one counts.
            "directory" => directory = Some(value),
            "filename" => file = Some(value),
            "rw" | "readwrite" => pattern = Some(OsString::from(value)),
            "rate" | "rate_iops" => {
                let rate = if name == "rate" { call.bandwidth(value) } else { call.rate(value) };
                match rate {
                    Ok(Some((rate, remark))) => {
                        ours.extend(["--rate".into(), rate.into()]);
                        remarks.extend(remark);
                    }
                    // No limit.
                    Ok(None) => {}
                    Err(error) => fault = fault.or(Some(error)),
                }
            }
            "rate_process" => arrivals = Some(value),
            "invalidate" => invalidates = value != "0",
            "output-format" => match formats(value) {
                Ok(format) => ours.extend(format.iter().map(OsString::from)),
                Err(error) => fault = fault.or(Some(error)),
            },
            // In fio too, the limits of reads and writes set their shares.
            "rwmixread" | "rwmixwrite" if call.has_two_rates() => {
                remarks.push(format!("--{name}={value} has no effect: the rates of reads and writes set their shares"));
            }
            _ => ours.extend(option(name, value).into_iter().map(OsString::from)),
        }
    }
    let place = match place(directory, file) {
        Ok((place, remark)) => {
            remarks.extend(remark);
            place
        }
        Err(error) => {
            fault = fault.or(Some(error));
            None
        }
    };
    match arrivals {
        Some(value) if ours.iter().any(|word| word == "--rate") => {
            ours.extend(option("rate_process", value).into_iter().map(OsString::from))
        }
        Some(value) => remarks.push(format!("--rate_process={value} has no effect without a rate")),
        None => {}
    }
    remove_zero_syncs(&mut ours);
    round_size(&mut ours, call.block);
    let is_read = call.only_reads() && !words.iter().any(|word| word == "--cold");
    let eviction = eviction(place.as_deref(), &ours, is_read, invalidates);
    ours.extend(eviction.map(OsString::from));
    if is_given(place.as_deref()) && !call.has_end {
        let what = "fio ends at the end of the file; a diskperf round takes at most 2 s (--time)";
        remarks.push(format!("without --runtime, {what}"));
    }
    remarks.extend(call.differences.iter().copied().map(str::to_owned));
    remarks.extend(call.other_bases.iter().map(|(sizes, base)| {
        let ours = if *base == 1000 { "KiB, MiB and GiB as powers of 1024" } else { "kB, MB and GB as powers of 1000" };
        format!("diskperf reads {ours}; fio reads {sizes} as powers of {base}")
    }));
    let words = words[..head].iter().cloned().chain(pattern).chain(ours).chain(place.map(OsString::from)).collect();
    Some(Translated { words, remarks, fault })
}

/// True if fio would use O_DIRECT: `direct` and `buffered` are one setting, and the last one counts.
fn is_direct(parts: &[Part<'_>]) -> bool {
    let setting = |part: &Part<'_>| match part {
        Part::Setting("direct", value) => Some(*value == "1"),
        Part::Setting("buffered", value) => Some(*value != "1"),
        _ => None,
    };
    parts.iter().rev().find_map(setting).unwrap_or(false)
}

/// The number of fio jobs: each `--name` begins one, unless it begins the options of all jobs.
fn number_of_jobs(parts: &[Part<'_>]) -> usize {
    parts.iter().filter(|part| matches!(part, Part::Setting("name", name) if !fio::is_global(name))).count()
}

/// The error for a call with several fio jobs; `None` for other calls. The grammar may refuse such a call too, but only
/// because an option is given twice.
pub fn several_jobs(words: &[OsString]) -> Option<ArgumentError> {
    translated(words)?.fault.filter(|fault| matches!(fault, ArgumentError::SeveralJobs(_)))
}

/// The index of the word after `io`, if the words are a call of `io`, or of `choose` with `io` in it.
fn command(words: &[OsString]) -> Option<usize> {
    match words.get(1)?.to_str()? {
        "io" => Some(2),
        // Building the grammar takes time, so do it only if needed.
        "choose" if words.iter().any(|word| word == "io") => {
            let mut all = cli::command();
            all.build();
            own_load::place_of_io(words, all.find_subcommand("choose")?).map(|at| at + 1)
        }
        _ => None,
    }
}

/// Divides the words after `io` into settings of fio with their values, and others.
fn parts(words: &[OsString]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let Some((name, given)) = word.to_str().and_then(setting) else {
            parts.push(Part::Ours(word));
            continue;
        };
        // diskperf uses the name, for the run.
        let needless = fio::without_effect(name).filter(|_| name != "name");
        let always = needless == Some(Form::Value) || WITH_VALUE.contains(&name);
        let may_be = needless.is_some() || SWITCHES.contains(&name);
        let next = rest.peek().and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
        let is_switch = |value: &str| ["0", "1"].contains(&value) || name == "sync" && value == "none";
        let value = given.or(next).filter(|value| always || may_be && is_switch(value));
        if given.is_none() && value.is_some() {
            rest.next();
        }
        parts.push(match (given, value) {
            _ if needless.is_some() => Part::Needless(name, value),
            (None, None) if name == "invalidate" => Part::Setting(name, "1"),
            (_, Some(value)) => Part::Setting(name, value),
            (_, None) => Part::Ours(word),
        });
    }
    parts
}

/// The call of `io` that a call of fio was meant to be; `None` if the words have no option of fio. The first word may
/// be `fio`.
pub fn call_of_io(words: &[OsString]) -> Option<Vec<OsString>> {
    let rest = words.get(1..)?;
    let rest = if rest.first().is_some_and(|word| word == "fio") { &rest[1..] } else { rest };
    let is_telling = |word: &OsString| word.to_str().and_then(setting).is_some_and(|(name, _)| TELLING.contains(&name));
    let is_of_fio = rest.iter().take_while(|word| *word != "--").any(is_telling);
    is_of_fio.then(|| [words[0].clone(), "io".into()].into_iter().chain(rest.iter().cloned()).collect())
}

/// A size that is not a whole number of blocks: fio leaves the rest of the file out. The size is read as diskperf reads
/// it, so that its meaning does not depend on the block size.
fn round_size(ours: &mut [OsString], block: Option<u64>) {
    let Some(block) = block else { return };
    let rounded = |text: &str| {
        let Bytes(size) = text.parse().ok()?;
        let size = Some(size).filter(|size| !size.is_multiple_of(block) && *size > block)?;
        Some(format!("{}B", size - size % block))
    };
    for place in 0..ours.len() {
        let Some(("size", given)) = ours[place].to_str().and_then(setting) else { continue };
        match given.map(str::to_owned) {
            Some(text) => {
                if let Some(size) = rounded(&text) {
                    ours[place] = format!("--size={size}").into();
                }
            }
            None => {
                let next = ours.get(place + 1).and_then(|word| word.to_str()).and_then(rounded);
                if let Some(size) = next {
                    ours[place + 1] = size.into();
                }
            }
        }
    }
}

/// The name of a setting, and its value after an equals sign. fio also takes options with one dash.
fn setting(word: &str) -> Option<(&str, Option<&str>)> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|name| name.len() > 1))?;
    Some(name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value))))
}

/// The words of diskperf for a setting of fio.
fn option(name: &str, value: &str) -> Vec<String> {
    let pair = |name: &str, value: String| vec![format!("--{name}"), value];
    let is_on = value == "1";
    match name {
        "runtime" | "timeout" | "ramp_time" | "thinktime" if is_zero(value) => Vec::new(),
        "blocksize" => pair("bs", value.to_owned()),
        "bssplit" => pair("bs", blocks(value)),
        "numjobs" => pair("jobs", value.to_owned()),
        "runtime" | "timeout" => pair("time", time(value, "s")),
        "ramp_time" => pair("warmup", time(value, "s")),
        "thinktime" => pair("think", time(value, "us")),
        "thinktime_blocks" => pair("burst", value.to_owned()),
        "rwmixread" => pair("reads", value.to_owned()),
        "rwmixwrite" => match value.parse::<u32>() {
            Ok(writes) => pair("reads", 100u32.saturating_sub(writes).to_string()),
            Err(_) => pair("reads", value.to_owned()),
        },
        "ioengine" => pair("engine", engine(value).to_owned()),
        "rate_process" => pair("arrivals", if value == "linear" { "constant" } else { value }.to_owned()),
        "random_distribution" if value == "random" => Vec::new(),
        "random_distribution" => pair("order", value.to_owned()),
        "randseed" => pair("seed", value.to_owned()),
        "loops" => pair("rounds", value.to_owned()),
        "sync" if is_on => pair("sync", "sync".to_owned()),
        "pre_read" if is_on => vec!["--warm".to_owned()],
        _ => Vec::new(),
    }
}

/// Sizes of blocks with percentages: fio's `4k/60:64k/40` is `4k:60,64k:40` here.
fn blocks(value: &str) -> String {
    value.replace(':', ",").replace('/', ":")
}

/// A time of fio. A number without a unit has this one; m are minutes.
fn time(value: &str, unit: &str) -> String {
    match value.strip_suffix('m') {
        _ if value.bytes().all(|byte| byte.is_ascii_digit()) => format!("{value}{unit}"),
        Some(minutes) => format!("{minutes}min"),
        None => value.to_owned(),
    }
}

/// The name of an engine here. Unknown ones are refused as they are.
fn engine(value: &str) -> &str {
    match value {
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => "posix",
        "libaio" | "posixaio" | "io_uring" => "uring",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn ours(line: &str) -> Option<String> {
        let Translated { words, fault, .. } = translated(&words(line))?;
        assert!(cli::refusal(&words).is_none() && fault.is_none(), "{words:?}");
        Some(words.iter().map(|word| word.to_str().expect("text")).collect::<Vec<&str>>().join(" "))
    }

    #[test]
    fn fio_options_become_ours() {
        for (fio, expected) in [
            (
                "--rw=randread --bs=4k --iodepth=32 --ioengine=libaio --direct=1 --runtime=10 --time_based --name=x",
                "randread --bs=4k --iodepth=32 --engine uring --direct --time 10s --name x",
            ),
            (
                "--name=job.1 --rw randrw --rwmixread 70 --numjobs 4 --runtime 1m --group_reporting --size=1g .",
                "randrw --reads 70 --jobs 4 --time 1min --size=1g .",
            ),
            ("-rw=write -fdatasync=1 --bs=2300 --directory=/mnt", "write -fdatasync=1 --bs=2300 /mnt"),
            ("randrw --rate_iops=700,300 --numjobs=2 --rwmixread=70", "randrw --rate 1400/600 --jobs 2"),
            ("randwrite --rate_iops=700,300", "randwrite --rate 300"),
            ("randrw --rate_iops=100", "randrw --rate 100/100"),
            ("randread --rate_iops 100 --numjobs 3", "randread --rate 300 --jobs 3"),
            ("randread --rate_iops=10k", "randread --rate 10240"),
            (
                "randread --bssplit=4k/60:64k/40 --thinktime=500 --ramp_time=2 --ioengine=psync",
                "randread --bs 4k:60,64k:40 --think 500us --warmup 2s --engine posix",
            ),
            ("randwrite --direct 0 --sync 1 --output-format=json", "randwrite --sync sync --json"),
            ("--rw=read --percentile_list=50:99 --log_avg_msec 500 --loops=3", "read --rounds 3"),
            ("--rw=read --output-format=csv", "read --format csv"),
            ("--rw=read --invalidate --invalidate=1 --unit_base 8 --eta never --thread 1 .", "read ."),
        ] {
            let words = fio.replace("-fdatasync=1 ", "--fdatasync=1 ");
            let expected = expected.replace(" -fdatasync", " --fdatasync");
            assert_eq!(ours(&format!("diskperf io {words}")), Some(format!("diskperf io {expected}")), "{fio}");
        }
    }

    #[test]
    fn bandwidths_become_operations() {
        for (fio, expected) in [
            ("--rw=randread --bs=4k --rate=20m", "randread --bs=4k --rate 5120"),
            ("--rw=randrw --bs=8k --rate 1m --numjobs=2", "randrw --bs=8k --rate 256/256 --jobs 2"),
            ("--rw=read --rate=1m", "read --rate 8"),
            // The block size is the default of the pattern, in whatever form the call has the pattern.
            ("--readwrite=read --rate=20m", "read --rate 160"),
            ("-rw=read --rate=20m", "read --rate 160"),
            ("--direct=1 --live read --rate=20m", "--direct --live read --rate 160"),
            ("--buffered=1 --rw=read --direct=1 --buffered=0", "read --direct"),
            ("--direct=1 --rw=read --buffered=1", "read"),
            ("--name read --rw=randread --rate=1m", "randread --name read --rate 256"),
            ("--rw=randread --rate=1m read", "randread --rate 256 read"),
            ("--thread --name randrw randread --rate_iops=100 ./randrw", "--name randrw randread --rate 100 ./randrw"),
            ("--readwrite randrw --rate_iops=100", "randrw --rate 100/100"),
            ("--rw=randrw --bs=4k --rate=20m,1m", "randrw --bs=4k --rate 5120/256"),
            ("--rw=commit --rate=1m", "commit --rate 256"),
            ("--rw=randread --bssplit=16k/100 --rate=1m", "randread --bs 16k:100 --rate 64"),
            // The bytes of all jobs are divided, so that only the sum is rounded.
            ("--rw=randread --bs=64k --rate=100k --numjobs=4", "randread --bs=64k --rate 6 --jobs 4"),
            ("--rw=randread --bs=64k --rate=1k", "randread --bs=64k --rate 1"),
        ] {
            assert_eq!(ours(&format!("diskperf io {fio}")), Some(format!("diskperf io {expected}")), "{fio}");
        }
        let choose = "diskperf choose . /x io";
        assert_eq!(
            ours(&format!("{choose} --margin 3% read --thread --rate=1m")),
            Some(format!("{choose} --margin 3% read --rate 8"))
        );
    }

    #[test]
    fn a_rate_without_a_unit_is_refused_next_to_words_of_fio() {
        let fault = |line: &str| translated(&words(line)).expect("a call of fio").fault;
        for rate in ["--rate=1048576", "--rate 1048576", "--rate=700,300"] {
            let line = format!("diskperf io --rw=randread --bs=4k --ioengine=libaio {rate}");
            assert!(matches!(fault(&line), Some(ArgumentError::RateWithoutUnit(_))), "{rate}");
        }
        // This form can only be a sweep of diskperf.
        assert!(fault("diskperf io --rw=randread --rate 100..800*2").is_none());
    }

    #[test]
    fn zero_is_no_limit() {
        for (fio, expected) in [
            ("--rw=randwrite --rate_iops=100,", "randwrite"),
            ("--rw=randread --rate_iops=0 --jobs 1,4", "randread --jobs 1,4"),
            ("--rw=randread --rate=0", "randread"),
            ("--rw=randread --rate=20m,0", "randread --rate 5120"),
            ("--rw=randwrite --rate 20m,0k", "randwrite"),
            ("--rw=randrw --rate=0k --rwmixread=70", "randrw --reads 70"),
            ("--rw=randread --rate_iops=0 --rate_process=poisson", "randread"),
            ("--rw=randread --rate_process=poisson --rate_iops=10", "randread --rate 10 --arrivals poisson"),
        ] {
            assert_eq!(ours(&format!("diskperf io {fio}")), Some(format!("diskperf io {expected}")), "{fio}");
        }
    }

    #[test]
    fn rates_that_cannot_be_converted_are_refused() {
        let fault = |line: &str| translated(&words(line)).expect("a call of fio").fault;
        for jobs in ["--jobs 1,4", "--numjobs=1..4*2"] {
            let several = fault(&format!("diskperf io randread --rate_iops=100 {jobs}"));
            assert!(matches!(several, Some(ArgumentError::RatePerJob { .. })), "{several:?}");
        }
        // The grammar refuses the number of jobs, not the rate.
        for rate in ["--rate_iops=100", "--rate=1m"] {
            let line = words(&format!("diskperf io --rw=randread {rate} --numjobs=x"));
            let Translated { words, fault, .. } = translated(&line).expect("a call of fio");
            let refusal = cli::refusal(&words).expect("a refusal");
            assert!(fault.is_none() && refusal.contains("'x' for '--jobs"), "{refusal}");
        }
        for rate in ["--rate_iops=100,", "--rate_iops=100,0", "--rate=20m,0k", "--rate=0,1m"] {
            let one = fault(&format!("diskperf io --rw=randrw {rate}"));
            assert!(matches!(one, Some(ArgumentError::RateOfOne { .. })), "{rate}: {one:?}");
        }
        assert!(fault("diskperf io --rw=randread --rate 100 --jobs 1,4").is_some());
    }

    #[test]
    fn several_jobs_are_refused() {
        let several = |line: &str| several_jobs(&words(&format!("diskperf {line}")));
        for line in [
            "io --name=a --rw=read --name=b --rw=write .",
            "io --bs=4k --name a --rw=read --name a --bs=8k",
            "choose . /x io --name=a --rw=read --name=b",
        ] {
            assert!(matches!(several(line), Some(ArgumentError::SeveralJobs(2))), "{line}");
        }
        assert!(several("io --name=a --rw=read .").is_none());
        assert_eq!(
            ours("diskperf io --name=global --thread --name=a --rw=read"),
            Some("diskperf io read --name a".to_owned())
        );
        assert_eq!(ours("diskperf io --name=global --rw=read"), Some("diskperf io read --name global".to_owned()));
    }

    /// The words have the size that the remark gives them, whether or not it is a whole number of blocks.
    #[test]
    fn a_size_that_differs_in_fio_keeps_our_meaning() {
        for (line, expected, said) in [
            ("--rw=read --bs=4KiB", "read --bs=4KiB", "fio reads 4KiB as powers of 1000"),
            ("--rw=randread --size=1GiB", "randread --size=1GiB", "1024; fio reads 1GiB as powers of 1000"),
            ("--rw=read --size=1GiB --bs=512", "read --size=1GiB --bs=512", "fio reads 1GiB as powers of 1000"),
            ("--rw=write --bs=2300 --size 1GiB", "write --bs=2300 --size 1073741200B", "fio reads 1GiB as powers of"),
            ("--rw=read --size=1MB --bs=512", "read --size=999936B --bs=512", "1000; fio reads 1MB as powers of 1024"),
        ] {
            let Translated { words, remarks, .. } =
                translated(&self::words(&format!("diskperf io {line}"))).expect(line);
            assert_eq!(words, self::words(&format!("diskperf io {expected}")), "{line}");
            // With a size, another remark is about the time.
            let most = 1 + usize::from(line.contains("--size"));
            assert!(remarks.len() == most && remarks.iter().any(|remark| remark.contains(said)), "{remarks:?}");
        }
    }

    #[test]
    fn files_hold_whole_blocks() {
        let etcd = "diskperf io --rw=write --bs=2300 --fdatasync=1 --ioengine=sync";
        let expected = "diskperf io write --bs=2300 --fdatasync=1 --engine posix";
        assert_eq!(ours(&format!("{etcd} --size=22m")), Some(format!("{expected} --size=23066700B")));
        assert_eq!(ours(&format!("{etcd} --size 22m")), Some(format!("{expected} --size 23066700B")));
        assert_eq!(ours(&format!("{etcd} --size=4600B")), Some(format!("{expected} --size=4600B")));
    }

    #[test]
    fn a_missing_file_is_a_folder() {
        assert_eq!(ours("diskperf io --rw=read --filename=/no/such"), Some("diskperf io read /no".to_owned()));
        assert_eq!(ours("diskperf io --rw=read --filename=nosuchfile"), Some("diskperf io read .".to_owned()));
        let this = env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml";
        let line = ours(&format!("diskperf io --rw=read --filename={this}"));
        assert_eq!(line, Some(format!("diskperf io read --cold file:{this}")));
        let line = |name: &str| words(&format!("diskperf io --rw=randread --filename={name}"));
        let translated = |name: &str| translated(&line(name)).expect("words");
        let remarks = translated("/no/such").remarks;
        assert!(remarks.len() == 1 && remarks[0].ends_with("a file of its own in /no"), "{remarks:?}");
        for device in ["/dev/nosuchdevice", "/dev/../dev/nosuchdevice", "/dev/mapper/nosuchdevice"] {
            assert!(matches!(translated(device).fault, Some(ArgumentError::NoSuchDevice(_))), "{device}");
        }
    }

    #[test]
    fn a_directory_and_a_file_name_are_one_target() {
        let crate_folder = env!("CARGO_MANIFEST_DIR");
        for (fio, expected) in [
            (format!("--directory={crate_folder} --filename=Cargo.toml"), format!("file:{crate_folder}/Cargo.toml")),
            (format!("--filename=/Cargo.toml --directory {crate_folder}/"), format!("file:{crate_folder}/Cargo.toml")),
            ("--directory=/dev --filename=shm/../null".to_owned(), "file:/dev/shm/../null".to_owned()),
            ("--directory=/mnt/d --filename=nosuch/file".to_owned(), "/mnt/d".to_owned()),
            ("--directory=/mnt --directory=/tmp".to_owned(), "/tmp".to_owned()),
        ] {
            let line = ours(&format!("diskperf io --rw=read {fio}"));
            let cold = if expected.starts_with("file:") { "--cold " } else { "" };
            assert_eq!(line, Some(format!("diskperf io read {cold}{expected}")), "{fio}");
        }
        let missing = translated(&words("diskperf io --rw=randrw --directory=/mnt --filename=nosuch")).expect("words");
        assert_eq!(missing.remarks, ["/mnt/nosuch does not exist: diskperf measures a file of its own in /mnt"]);
        let device = translated(&words("diskperf io --rw=read --directory=/dev --filename=nosuch")).expect("words");
        assert!(matches!(device.fault, Some(ArgumentError::NoSuchDevice(_))), "{:?}", device.fault);
    }

    #[test]
    fn choose_takes_them_behind_io() {
        assert_eq!(
            ours("diskperf choose a=. b=/tmp io --rw=randwrite --bs=4k --runtime=1 --margin 3%"),
            Some("diskperf choose a=. b=/tmp io randwrite --bs=4k --time 1s --margin 3%".to_owned())
        );
        // Only options with a value have one.
        for options in ["--yes", "--margin=3%", "--margin 3% --yes"] {
            let choose = format!("diskperf choose a=. b=/tmp {options} io");
            let translated = translated(&words(&format!("{choose} --rw=randread"))).expect("words of fio");
            assert_eq!(translated.words, words(&format!("{choose} randread")), "{options}");
        }
    }

    #[test]
    fn our_own_words_stay() {
        for line in [
            "io randread --direct .",
            "io randwrite --fsync 16 --sync dsync",
            "io randread --rate 2000 .",
            "io randread --rate 100k --name x .",
            "run quick --rw=read",
            "choose . /x",
            "choose . --only io --rw=read",
        ] {
            assert!(translated(&words(&format!("diskperf {line}"))).is_none(), "{line}");
        }
    }

    #[test]
    fn a_call_of_fio_is_one_of_io() {
        let io = |line: &str| call_of_io(&words(line)).map(|words| words.join(OsStr::new(" ")));
        let expected = Some("diskperf io --name=x --rw=read .".into());
        assert_eq!(io("diskperf --name=x --rw=read ."), expected);
        assert_eq!(io("diskperf fio --name=x --rw=read ."), expected);
        assert_eq!((io("diskperf --size=1g ."), io("diskperf . -- fio --rw=read")), (None, None));
    }
}
