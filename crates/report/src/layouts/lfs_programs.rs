//! The output lines of the lab's programs (about 2002), word for word: `bw`, `smallfb`, `largefb`. Also two lines that
//! the lab did not print: the median of a series, and the distance of its best value from the median.

use stats::digits::plain;
use stats::figures::summary::median;
use units::{Nanos, per_second};

/// The number of digits in figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// As the originals: two decimals in `bw -b`, else six, whatever the resolution of the clock.
    Classic,
    /// Four significant digits, and none below a nanosecond.
    Meaningful,
}

/// The line that `smallfb` and `largefb` print about their flush file.
pub const FLUSH_FILE: &str = "creating a temporary file used to flush the cache: done.";

/// The line of `bw -b`.
pub fn bandwidth(device: &str, megabytes: u64, elapsed: Nanos, digits: Digits) -> String {
    let (time, rate) = (seconds(elapsed, 2, digits), rate(megabytes as f64, elapsed, 2, digits));
    format!("Timing device {device}: {megabytes} MB in {time} seconds = {rate} MB/sec")
}

/// The line of `bw -l`.
pub fn latency(device: &str, reads: u64, elapsed: Nanos, digits: Digits) -> String {
    let time = seconds(elapsed, 6, digits);
    let milliseconds = number(1e3 * elapsed.as_secs_f64() / reads as f64, 6, digits);
    format!("Timing {reads} reads on {device}: {reads} reads in {time} secs = {milliseconds} msec latency")
}

/// The first line of `smallfb`.
pub fn small_files(files: u64, bytes: u64) -> String {
    format!("small file benchmark: {files} {bytes} byte files")
}

/// The line of a phase of `smallfb`: `creat`, `read`, `delete`.
pub fn small_phase(phase: &str, files: u64, elapsed: Nanos, digits: Digits) -> String {
    let (time, rate) = (seconds(elapsed, 6, digits), rate(files as f64, elapsed, 6, digits));
    format!("{phase}: {files} files in {time} sec = {rate} files/sec")
}

/// The first line of `largefb`.
pub fn large_file(writes: u64, bytes: u64) -> String {
    format!("large file benchmark: {writes} {bytes} byte writes")
}

/// The line of a phase of `largefb`. The phase names the operation and its order: `write sequential`, `read random`,
/// `read sequential again`. A KB is 1000 bytes: no other unit gives the lab's own figures.
pub fn large_phase(phase: &str, bytes: u64, elapsed: Nanos, digits: Digits) -> String {
    let verb = if phase.starts_with("write") { "writing" } else { "reading" };
    let order = if phase.contains("random") { "random" } else { "sequential" };
    let (time, rate) = (seconds(elapsed, 6, digits), rate(bytes as f64 / 1e3, elapsed, 6, digits));
    format!("{verb} {bytes} {order} bytes: {bytes} bytes in {time} sec = {rate} KB/sec")
}

/// The best value of a series: its highest or its lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// The highest: rates.
    Highest,
    /// The lowest: latencies.
    Lowest,
}

/// Returns the median of a series, its spread as a share of the mean, and how far its best value, which the lab quoted,
/// misleads. Empty for fewer than two values.
pub fn series(values: &[f64], best: Best, unit: &str) -> Vec<String> {
    let (Some(middle), true) = (median(values), values.len() >= 2) else { return Vec::new() };
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().copied().fold(0.0, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (best, verb) = match best {
        Best::Highest => (highest, "overstates"),
        Best::Lowest => (lowest, "understates"),
    };
    let text = |value: f64| plain(value, 4, 9);
    vec![
        format!(
            "median {} {unit}, spread {:.1} % of the mean ({} to {} {unit})",
            text(middle),
            100.0 * (highest - lowest) / mean,
            text(lowest),
            text(highest)
        ),
        format!(
            "the best of {} misleads: {} {unit} {verb} the median by {:.1} %",
            values.len(),
            text(best),
            100.0 * (best / middle - 1.0).abs()
        ),
    ]
}

fn seconds(elapsed: Nanos, decimals: usize, digits: Digits) -> String {
    number(elapsed.as_secs_f64(), decimals, digits)
}

fn rate(amount: f64, elapsed: Nanos, decimals: usize, digits: Digits) -> String {
    per_second(1, elapsed).map_or_else(|| "n.m.".to_owned(), |turns| number(amount * turns, decimals, digits))
}

fn number(value: f64, decimals: usize, digits: Digits) -> String {
    match digits {
        Digits::Classic => format!("{value:.decimals$}"),
        Digits::Meaningful => plain(value, 4, 9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: &str = "/dev/hda8";

    fn micros(micros: u64) -> Nanos {
        Nanos::from_micros(micros)
    }

    #[test]
    fn bandwidth_is_the_labs_line() {
        for (megabytes, time, expected) in [
            (65, 7_860_000, "Timing device /dev/hda8: 65 MB in 7.86 seconds = 8.27 MB/sec"),
            (129, 17_430_000, "Timing device /dev/hda8: 129 MB in 17.43 seconds = 7.40 MB/sec"),
            (257, 21_530_000, "Timing device /dev/hda8: 257 MB in 21.53 seconds = 11.94 MB/sec"),
            (513, 50_520_000, "Timing device /dev/hda8: 513 MB in 50.52 seconds = 10.15 MB/sec"),
            (769, 77_900_000, "Timing device /dev/hda8: 769 MB in 77.90 seconds = 9.87 MB/sec"),
        ] {
            assert_eq!(bandwidth(DEVICE, megabytes, micros(time), Digits::Classic), expected);
        }
    }

    /// 256 and 1024 reads end in half a unit of the last digit. The lab's difference of two clocks was slightly below
    /// it.
    #[test]
    fn latency_is_the_labs_line() {
        for (reads, time, figures) in [
            (128, Nanos(1_850_000_000), "1.850000 secs = 14.453125"),
            (256, Nanos(3_629_999_999), "3.630000 secs = 14.179687"),
            (512, Nanos(7_280_000_000), "7.280000 secs = 14.218750"),
            (1024, Nanos(14_519_999_999), "14.520000 secs = 14.179687"),
            (2048, Nanos(27_740_000_000), "27.740000 secs = 13.544922"),
            (4096, Nanos(55_830_000_000), "55.830000 secs = 13.630371"),
            (8192, Nanos(110_290_000_000), "110.290000 secs = 13.463135"),
        ] {
            let expected = format!("Timing {reads} reads on /dev/hda8: {reads} reads in {figures} msec latency");
            assert_eq!(latency(DEVICE, reads, time, Digits::Classic), expected);
        }
    }

    #[test]
    fn small_files_are_the_labs_lines() {
        assert_eq!(small_files(10_000, 1024), "small file benchmark: 10000 1024 byte files");
        for (phase, time, expected) in [
            ("creat", 52_734_795, "creat: 10000 files in 52.734795 sec = 189.628119 files/sec"),
            ("read", 6_622_181, "read: 10000 files in 6.622181 sec = 1510.076514 files/sec"),
            ("delete", 255_307, "delete: 10000 files in 0.255307 sec = 39168.530436 files/sec"),
        ] {
            assert_eq!(small_phase(phase, 10_000, micros(time), Digits::Classic), expected);
        }
    }

    #[test]
    fn large_files_are_the_labs_lines() {
        assert_eq!(large_file(32_768, 4096), "large file benchmark: 32768 4096 byte writes");
        for (phase, time, expected) in [
            (
                "write sequential",
                11_051_635,
                "writing 134217728 sequential bytes: 134217728 bytes in 11.051635 sec = 12144.603762 KB/sec",
            ),
            (
                "read sequential",
                9_585_257,
                "reading 134217728 sequential bytes: 134217728 bytes in 9.585257 sec = 14002.517408 KB/sec",
            ),
            (
                "write random",
                349_748_966,
                "writing 134217728 random bytes: 134217728 bytes in 349.748966 sec = 383.754467 KB/sec",
            ),
            (
                "read random",
                70_093_753,
                "reading 134217728 random bytes: 134217728 bytes in 70.093753 sec = 1914.831526 KB/sec",
            ),
            (
                "read sequential again",
                9_059_885,
                "reading 134217728 sequential bytes: 134217728 bytes in 9.059885 sec = 14814.506807 KB/sec",
            ),
        ] {
            assert_eq!(large_phase(phase, 134_217_728, micros(time), Digits::Classic), expected);
        }
    }

    #[test]
    fn digits_end_where_they_mean_nothing() {
        let line = bandwidth("/dev/x", 64, Nanos(7_859_600_123), Digits::Meaningful);
        assert_eq!(line, "Timing device /dev/x: 64 MB in 7.860 seconds = 8.143 MB/sec");
        let line = latency("/dev/x", 128, Nanos(18_500_123), Digits::Meaningful);
        assert_eq!(line, "Timing 128 reads on /dev/x: 128 reads in 0.01850 secs = 0.1445 msec latency");
        let line = small_phase("delete", 10_000, micros(255_307), Digits::Meaningful);
        assert_eq!(line, "delete: 10000 files in 0.2553 sec = 39170 files/sec");
        let line = large_phase("read random", 4096, Nanos(1234), Digits::Meaningful);
        assert_eq!(line, "reading 4096 random bytes: 4096 bytes in 0.000001234 sec = 3319000 KB/sec");
        let line = small_phase("read", 1, Nanos::ZERO, Digits::Meaningful);
        assert_eq!(line, "read: 1 files in 0 sec = n.m. files/sec");
    }

    /// The lab's own five values; the write-up quotes "about 12 MB/sec".
    #[test]
    fn the_best_of_a_series_is_not_its_middle() {
        let rates = [8.27, 7.40, 11.94, 10.15, 9.87];
        let expected = [
            "median 9.870 MB/sec, spread 47.7 % of the mean (7.400 to 11.94 MB/sec)",
            "the best of 5 misleads: 11.94 MB/sec overstates the median by 21.0 %",
        ];
        assert_eq!(series(&rates, Best::Highest, "MB/sec"), expected);
        let latencies = series(&[14.0, 13.0, 15.0], Best::Lowest, "msec");
        assert_eq!(latencies[1], "the best of 3 misleads: 13.00 msec understates the median by 7.1 %");
        assert!(series(&[1.0], Best::Highest, "MB/sec").is_empty());
    }
}
