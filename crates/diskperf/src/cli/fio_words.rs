//! fio's options in a call of `diskperf io`, or behind `io` in a call of `choose`: each becomes an option of ours, and
//! the program prints the call that results. Options that both have with the same meaning stay as they are.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use jobs::fio;

use crate::documents::store_arguments::parse_name;

/// Settings without an effect here, beside those that `import` skips: the defaults of diskperf.
const NEEDLESS: [&str; 5] = ["time_based", "norandommap", "invalidate", "minimal", "eta-newline"];

/// Settings without an effect here that always have a value.
const NEEDLESS_VALUES: [&str; 10] = [
    "description",
    "eta",
    "eta-newline",
    "fallocate",
    "log_avg_msec",
    "percentile_list",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// Settings of fio that always have a value.
const WITH_VALUE: [&str; 19] = [
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

/// Options of ours whose values differ in fio: a switch has 0 or 1 there.
const SWITCHES: [&str; 4] = ["direct", "buffered", "sync", "pre_read"];

/// Returns a call in our words; `None` if it has no word of fio.
pub fn translated(words: &[OsString]) -> Option<Vec<OsString>> {
    let head = command(words)?;
    let Call { jobs, block, has_both } = Call::of(&words[head..]);
    // A mix has one rate for reads and one for writes.
    let rates = jobs * if has_both { 2 } else { 1 };
    let (mut pattern, mut places, mut ours) = (None, Vec::new(), Vec::new());
    let mut is_fio = false;
    let mut rest = words[head..].iter().peekable();
    while let Some(word) = rest.next() {
        let text = word.to_str().unwrap_or_default();
        let Some((name, given)) = setting(text) else {
            ours.push(word.clone());
            continue;
        };
        let next = rest.peek().and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
        if name != "name" && (NEEDLESS.contains(&name) || fio::has_no_effect(name)) {
            is_fio = true;
            let is_value = |next: &str| NEEDLESS_VALUES.contains(&name) || ["0", "1"].contains(&next);
            if given.is_none() && next.is_some_and(is_value) {
                rest.next();
            }
            continue;
        }
        if name == "name" {
            let value = given.or(next);
            if given.is_none() && next.is_some() {
                rest.next();
            }
            // A name of fio's that is none of ours is left out.
            if let Some(Ok(value)) = value.map(parse_name)
                && !ours.iter().any(|word| word == "--name")
            {
                ours.extend(["--name".into(), value.into()]);
            }
            continue;
        }
        if name == "directory" || name == "filename" {
            let Some(value) = given.or(next).map(str::to_owned) else {
                ours.push(word.clone());
                continue;
            };
            if given.is_none() {
                rest.next();
            }
            is_fio = true;
            places.push(if name == "filename" { target(&value) } else { value }.into());
            continue;
        }
        let is_switch = SWITCHES.contains(&name) && given.or(next).is_some_and(|value| ["0", "1"].contains(&value));
        // A number alone is a rate of ours, in operations; fio's is in bytes and has a unit.
        let has_unit = |value: &str| value.ends_with(|end: char| end.is_ascii_alphabetic());
        let is_bandwidth = name == "rate" && given.or(next).is_some_and(has_unit);
        let value = match given {
            _ if !is_switch && !is_bandwidth && !WITH_VALUE.contains(&name) => None,
            Some(given) => Some(given.to_owned()),
            None => next.map(str::to_owned).inspect(|_| _ = rest.next()),
        };
        let Some(value) = value else {
            ours.push(word.clone());
            continue;
        };
        is_fio = true;
        if name == "rw" || name == "readwrite" {
            pattern = Some(OsString::from(value));
        } else if is_bandwidth {
            ours.extend(bandwidth(&value, block, rates).into_iter().map(OsString::from));
        } else {
            ours.extend(option(name, &value, rates).into_iter().map(OsString::from));
        }
    }
    if !is_fio {
        return None;
    }
    round_size(&mut ours, block);
    Some(words[..head].iter().cloned().chain(pattern).chain(ours).chain(places).collect())
}

/// The place behind `io`, if the words are a call of `io` or have it among those of `choose`.
fn command(words: &[OsString]) -> Option<usize> {
    match words.get(1)?.to_str()? {
        "io" => Some(2),
        "choose" => {
            let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
            // Behind an option, it is a value or a target.
            let is_command = |at: &usize| words[*at] == "io" && !words[*at - 1].as_encoded_bytes().starts_with(b"-");
            (2..end).find(is_command).map(|at| at + 1)
        }
        _ => None,
    }
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

/// The target that a file name of fio means: an existing file, a device, or the folder in which fio would create the
/// file. There, diskperf creates its own.
fn target(name: &str) -> String {
    let path = Path::new(name);
    match path.metadata() {
        Ok(metadata) if metadata.file_type().is_block_device() => name.to_owned(),
        Ok(_) => format!("file:{name}"),
        Err(_) => match path.parent().map(Path::as_os_str).and_then(OsStr::to_str) {
            Some("") | None => ".".to_owned(),
            Some(folder) => folder.to_owned(),
        },
    }
}

/// The settings of a call by which others are converted.
struct Call {
    /// The number of jobs, which fio's rates are multiplied by.
    jobs: u64,
    /// The bytes of a block, if there is one size.
    block: Option<u64>,
    /// True if it reads and writes.
    has_both: bool,
}

impl Call {
    fn of(words: &[OsString]) -> Call {
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        let value = |names: &[&str]| {
            (0..words.len()).find_map(|place| match setting(words[place])? {
                (name, given) if names.contains(&name) => given.or(words.get(place + 1).copied()),
                _ => None,
            })
        };
        let has_both = words.iter().any(|word| *word == "randrw" || word.ends_with("=randrw"));
        let is_in_order = words.iter().any(|word| ["read", "write", "--rw=read", "--rw=write"].contains(word));
        let block = match value(&["bs", "blocksize"]) {
            Some(text) => fio::size(text),
            None => (value(&["bssplit"]).is_none()).then_some(if is_in_order { 128 << 10 } else { 4 << 10 }),
        };
        let jobs = value(&["numjobs", "jobs"]).and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
        Call { jobs, block: block.filter(|block| *block > 0), has_both }
    }
}

/// A size that is not a whole number of blocks: fio leaves the rest of the file out.
fn round_size(ours: &mut [OsString], block: Option<u64>) {
    let Some(block) = block else { return };
    let rounded = |text: &str| {
        let size = fio::size(text).filter(|size| !size.is_multiple_of(block) && *size > block)?;
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

/// The words of ours for a setting of fio. A single rate is for each of `rates` jobs and directions.
fn option(name: &str, value: &str, rates: u64) -> Vec<String> {
    let pair = |name: &str, value: String| vec![format!("--{name}"), value];
    let is_on = value == "1";
    match name {
        "blocksize" => pair("bs", value.to_owned()),
        "bssplit" => pair("bs", value.replace(':', ",").replace('/', ":")),
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
        "rate_iops" => rate(value, rates),
        "rate_process" => pair("arrivals", if value == "linear" { "constant" } else { value }.to_owned()),
        "random_distribution" if value == "random" => Vec::new(),
        "random_distribution" => pair("order", value.to_owned()),
        "randseed" => pair("seed", value.to_owned()),
        "loops" => pair("rounds", value.to_owned()),
        "output-format" if value.starts_with("json") => vec!["--json".to_owned()],
        "output-format" if value == "csv" => pair("format", "csv".to_owned()),
        "output-format" => Vec::new(),
        "direct" if is_on => vec!["--direct".to_owned()],
        "buffered" if !is_on => vec!["--direct".to_owned()],
        "sync" if is_on => pair("sync", "sync".to_owned()),
        "pre_read" if is_on => vec!["--warm".to_owned()],
        _ => Vec::new(),
    }
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

/// A rate in bytes per second for each job and direction, as operations per second. Unknown sizes are refused as they
/// are.
fn bandwidth(value: &str, block: Option<u64>, rates: u64) -> Vec<String> {
    let rate = fio::size(value).zip(block).map(|(bytes, block)| (bytes.saturating_mul(rates) / block).max(1));
    vec!["--rate".to_owned(), rate.map_or_else(|| value.to_owned(), |rate| rate.to_string())]
}

/// A rate for each job and direction, or one for reads and one for writes, as in 700,300.
fn rate(value: &str, rates: u64) -> Vec<String> {
    let numbers: Option<Vec<u64>> = value.split(',').map(|number| number.parse().ok()).collect();
    let option = |rate: u64| vec!["--rate".to_owned(), rate.to_string()];
    match numbers.as_deref() {
        Some([rate]) => option(rate.saturating_mul(rates)),
        Some([reads, writes]) if reads + writes > 0 => {
            let percent = (100 * reads + (reads + writes) / 2) / (reads + writes);
            [
                option((reads + writes).saturating_mul((rates / 2).max(1))),
                vec!["--reads".to_owned(), percent.to_string()],
            ]
            .concat()
        }
        _ => vec!["--rate".to_owned(), value.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn ours(line: &str) -> Option<String> {
        let words = translated(&words(line))?;
        assert!(cli::refusal(&words).is_none(), "{words:?}");
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
            ("randrw --rate_iops=700,300 --numjobs=2", "randrw --rate 2000 --reads 70 --jobs 2"),
            ("randrw --rate_iops=100", "randrw --rate 200"),
            ("randread --rate_iops 100 --numjobs 3", "randread --rate 300 --jobs 3"),
            (
                "randread --bssplit=4k/60:64k/40 --thinktime=500 --ramp_time=2 --ioengine=psync",
                "randread --bs 4k:60,64k:40 --think 500us --warmup 2s --engine posix",
            ),
            ("randwrite --direct 0 --sync 1 --output-format=json", "randwrite --sync sync --json"),
            ("--rw=read --percentile_list=50:99 --log_avg_msec 500 --loops=3", "read --rounds 3"),
            ("--rw=read --output-format=csv", "read --format csv"),
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
            ("--rw=randrw --bs=8k --rate 1m --numjobs=2", "randrw --bs=8k --rate 512 --jobs 2"),
            ("--rw=read --rate=1m", "read --rate 8"),
            // A number alone is ours.
            ("--rw=randread --rate=500", "randread --rate=500"),
        ] {
            assert_eq!(ours(&format!("diskperf io {fio}")), Some(format!("diskperf io {expected}")), "{fio}");
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
        assert_eq!(line, Some(format!("diskperf io read file:{this}")));
    }

    #[test]
    fn choose_takes_them_behind_io() {
        assert_eq!(
            ours("diskperf choose a=. b=/tmp io --rw=randwrite --bs=4k --runtime=1 --margin 3%"),
            Some("diskperf choose a=. b=/tmp io randwrite --bs=4k --time 1s --margin 3%".to_owned())
        );
    }

    #[test]
    fn our_own_words_stay() {
        for line in [
            "io randread --direct .",
            "io randwrite --fsync 16 --sync dsync",
            "run quick --rw=read",
            "choose . /x",
            "choose . --only io --rw=read",
        ] {
            assert_eq!(translated(&words(&format!("diskperf {line}"))), None, "{line}");
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
