//! fio's options in a call of `diskperf io`: each becomes an option of ours, and the program prints the call that
//! results. Options that both have with the same meaning stay as they are.

use std::ffi::OsString;

use crate::documents::store_arguments::parse_name;

/// Settings of fio without an effect here, with or without a value: reports, and the defaults of diskperf.
const NEEDLESS: [&str; 15] = [
    "group_reporting",
    "time_based",
    "thread",
    "end_fsync",
    "norandommap",
    "randrepeat",
    "invalidate",
    "eta",
    "fallocate",
    "gtod_reduce",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "lat_percentiles",
    "clat_percentiles",
];

/// Settings of fio that always have a value.
const WITH_VALUE: [&str; 18] = [
    "rw",
    "readwrite",
    "blocksize",
    "bssplit",
    "numjobs",
    "runtime",
    "ramp_time",
    "timeout",
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

/// Options of ours whose values differ in fio: a switch has 0 or 1 there.
const SWITCHES: [&str; 4] = ["direct", "buffered", "sync", "pre_read"];

/// Returns a call of `diskperf io` in our words; `None` if it has no word of fio.
pub fn translated(words: &[OsString]) -> Option<Vec<OsString>> {
    if words.get(1).is_none_or(|word| word != "io") {
        return None;
    }
    // A mix has one rate for reads and one for writes.
    let is_mix =
        words.iter().any(|word| word == "randrw" || word.to_str().is_some_and(|word| word.ends_with("=randrw")));
    let rates = jobs(words) * if is_mix { 2 } else { 1 };
    let (mut pattern, mut places, mut ours) = (None, Vec::new(), Vec::new());
    let mut is_fio = false;
    let mut rest = words[2..].iter().peekable();
    while let Some(word) = rest.next() {
        let text = word.to_str().unwrap_or_default();
        let Some((name, given)) = setting(text) else {
            ours.push(word.clone());
            continue;
        };
        let next = rest.peek().and_then(|word| word.to_str()).filter(|word| !word.starts_with('-'));
        if NEEDLESS.contains(&name) {
            is_fio = true;
            if given.is_none() && next.is_some_and(|next| ["0", "1"].contains(&next)) {
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
            places.push(if name == "filename" { format!("file:{value}") } else { value }.into());
            continue;
        }
        let is_switch = SWITCHES.contains(&name) && given.or(next).is_some_and(|value| ["0", "1"].contains(&value));
        let value = match given {
            _ if !is_switch && !WITH_VALUE.contains(&name) => None,
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
        } else {
            ours.extend(option(name, &value, rates).into_iter().map(OsString::from));
        }
    }
    let (command, places) = (words[..2].iter().cloned(), places.into_iter());
    is_fio.then(|| command.chain(pattern).chain(ours).chain(places).collect())
}

/// The name of a setting, and its value after an equals sign. fio also takes options with one dash.
fn setting(word: &str) -> Option<(&str, Option<&str>)> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|name| name.len() > 1))?;
    Some(name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value))))
}

/// The number of jobs, which fio's rates are multiplied by.
fn jobs(words: &[OsString]) -> u64 {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let value = |place: usize| match setting(words[place])? {
        ("numjobs" | "jobs", Some(value)) => value.parse().ok(),
        ("numjobs" | "jobs", None) => words.get(place + 1)?.parse().ok(),
        _ => None,
    };
    (0..words.len()).find_map(value).unwrap_or(1)
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
        "output-format" if value == "json" => vec!["--json".to_owned()],
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

    fn ours(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let words = translated(&words)?;
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
        ] {
            let words = fio.replace("-fdatasync=1 ", "--fdatasync=1 ");
            let expected = expected.replace(" -fdatasync", " --fdatasync");
            assert_eq!(ours(&format!("diskperf io {words}")), Some(format!("diskperf io {expected}")), "{fio}");
        }
    }

    #[test]
    fn our_own_words_stay() {
        for line in
            ["io randread --direct .", "io randwrite --fsync 16 --sync dsync", "run quick --rw=read", "choose . /x"]
        {
            assert_eq!(ours(&format!("diskperf {line}")), None, "{line}");
        }
    }
}
