//! The parts of an output that stay the same in another measurement, on another machine: the rows and columns of a
//! table, and the words of lines. Figures, their units, the disk, and the warnings of this time may differ.
//!
//! Policy:
//!   1. lines before the first empty line describe the machine, except remarks about what will be done;
//!   2. lines about warnings or missing results are left out. So are lines about where the run is stored, about the
//!      device, which is not visible everywhere, and about the largest load, which a run without rounds lacks;
//!   3. headings of columns that may be empty on some machines are left out, and so is their second line. A table may
//!      have a second part. If that has only such headings, it is left out, too: the width of the first part decides
//!      which columns it has;
//!   4. the name of a row and the unit of its rate are compared. A row that is `n.m.` on one side may have any unit;
//!   5. in other lines, all figures count as equal, and so do all units of sizes and times. The word `trimmed` is
//!      ignored, because a mean is trimmed only if a round stands out;
//!   6. figures decide where a line of 100 columns ends: a line that continues in the next is joined with it, and so
//!      are names of rows.

/// Beginnings of lines that depend on the measurement.
const LEFT_OUT: [&str; 15] = [
    "* ",
    "noise: ",
    "noise in ",
    "identical settings",
    "settings of ",
    "nested: ",
    "left_out: ",
    "n.m. ",
    "cache state n.m.",
    "of limit n.m.",
    "stored as ",
    "about ",
    "results database ",
    "plus ",
    "Not tested: more than ",
];

/// Words of lines about the data that reached a device, or about an invisible device.
const DEVICE: [&str; 3] = ["the device ", "no device can be seen", "may come from memory"];

/// Headings of columns that may be empty. A table without any rate has no conditions.
const OPTIONAL: [&str; 10] =
    ["condition", "±95 %", "CPU", "CPU +", "latency", "response", "bottleneck", "before", "before sync", "of limit"];

/// Units that follow figures, and change with their size.
const UNITS: [&str; 14] = ["ns", "us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "%"];

/// Units of rates.
const RATES: [&str; 9] = ["MiB/s", "MB/s", "ops/s", "files/s", "reads/s", "Kbytes/sec", "KB/sec", "MB/sec", "seconds"];

/// The first line in which two texts differ by their shape.
pub fn difference(said: &str, printed: &str) -> Option<String> {
    let (said, printed) = (shape(said), shape(printed));
    let place = (0..said.len().max(printed.len())).find(|&place| !match (said.get(place), printed.get(place)) {
        (Some(one), Some(other)) => one.is_like(other),
        _ => false,
    })?;
    let [said, printed] = [&said, &printed].map(|lines| format!("{:?}", lines.get(place)));
    Some(format!("  the page says  {said}\n  and printed is {printed}"))
}

/// A line, without the parts that may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// A description of the machine.
    Machine,
    /// The headings of a table.
    Headings(Vec<String>),
    /// A row: its name and the unit of its rate, if it has one.
    Row(String, Option<String>),
    /// Any other line.
    Words(String),
}

impl Shape {
    fn is_like(&self, other: &Shape) -> bool {
        match (self, other) {
            // 4.
            (Shape::Row(name, one), Shape::Row(other_name, other)) => {
                name == other_name && (one.is_none() || other.is_none() || one == other)
            }
            _ => self == other,
        }
    }
}

fn shape(text: &str) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let has_machine = text.lines().any(|line| line.starts_with("Linux "));
    let mut is_before = has_machine;
    let (mut is_table, mut is_second_part) = (false, false);
    for line in unbroken(text) {
        let line = line.as_str();
        if line.is_empty() {
            is_before = is_before && !shapes.contains(&Shape::Machine);
            (is_table, is_second_part) = (false, false);
        }
        // 2.
        let tells_of_device = DEVICE.iter().any(|words| line.contains(words));
        if line.is_empty() || tells_of_device || LEFT_OUT.iter().any(|begin| line.trim_start().starts_with(begin)) {
            continue;
        }
        let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
        // 3.
        is_second_part |= line.starts_with("  ") && columns.iter().all(|column| OPTIONAL.contains(column));
        if is_second_part && !is_table {
            continue;
        }
        let is_remark = ["writes ", "reads "].iter().any(|begin| line.starts_with(begin));
        let shape = if line.contains("(seed ") || line == "Nothing was run" {
            // There may be fewer rounds, or none in the time on a busy machine. Not every run has the clauses that
            // follow.
            Shape::Words("rounds".to_owned())
        } else if is_before && !is_remark {
            // 1.
            Shape::Machine
        } else if line.starts_with("  ") && columns.contains(&"rate") {
            // 3.
            is_table = true;
            let always = columns.into_iter().filter(|column| !OPTIONAL.contains(column));
            Shape::Headings(always.map(str::to_owned).collect())
        } else if matches!(shapes.last(), Some(Shape::Headings(_))) && line.starts_with("   ") {
            continue;
        } else if is_table && line.starts_with("   ") {
            // 6.
            if let Some(Shape::Row(name, _)) = shapes.last_mut() {
                *name += &format!(" {}", columns[0]);
            }
            continue;
        } else if is_table && line.starts_with(' ') {
            let unit = RATES.iter().find(|unit| line.split([' ', '*']).any(|word| word == **unit));
            Shape::Row(columns[0].to_owned(), unit.map(|unit| (*unit).to_owned()))
        } else {
            Shape::Words(words(line))
        };
        if shape != Shape::Machine || shapes.last() != Some(&Shape::Machine) {
            shapes.push(shape);
        }
    }
    shapes
}

/// 6.
fn unbroken(text: &str) -> Vec<String> {
    const COLUMNS: usize = 100;
    let mut lines: Vec<String> = Vec::new();
    let mut last = "";
    for line in text.lines() {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        let word = words.split(' ').next().unwrap_or_default().chars().count();
        let before = last.len() - last.trim_start().len();
        // A row of a table has an indent of one. Its name may continue, however long the row is.
        let is_next = (before != 1 && indent == before + 2) || (indent == 2 && last.starts_with("  "));
        let is_full = last.chars().count() + 1 + word > COLUMNS;
        match lines.last_mut() {
            Some(before) if is_next && is_full && !words.is_empty() => *before += &format!(" {words}"),
            _ => lines.push(line.to_owned()),
        }
        last = line;
    }
    lines
}

/// 5.
fn words(line: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let bare = word.trim_matches(|c: char| ",;:.()*".contains(c));
        let word = if bare.contains(|c: char| c.is_ascii_digit()) && !bare.contains('_') || bare == "n.m" {
            "#"
        } else {
            word
        };
        let is_left_out = bare == "trimmed" || UNITS.contains(&bare) && words.last() == Some(&"#");
        let is_repeated = word == "#" && words.last() == Some(&"#");
        if !is_left_out && !is_repeated {
            words.push(word);
        }
    }
    words.join(" ")
}

#[test]
fn only_varying_figures_may_differ() {
    let one = "\
writes up to 1.12 GiB in ., at most 32 MiB at a time, in up to 60 s; Ctrl-C leaves nothing behind
.  ext4 rw  on  vda 256 GiB
Linux 6.18, 2 CPUs

              condition          rate  ±95 %  CPU +
                                            kthreads
 read_8192    cold cache  1,720 MiB/s    4 %  9% +1%
 randread,    cold cache  12,400 ops/s    1 %  9% +1%                    queue depth 1           12,000
   iodepth 32

cp on .: mean 4.72 ms a run (median 4.73 ms)
5 rounds in random order (seed 1); 95 % intervals at most ±44 %. diskperf overhead: 0.4 % CPU, 0.09
  us per operation
Not tested: more than 1.12 GiB or 12 s of continuous load
* noise: somebody was at work   diskperf help noise
";
    let other = "\
writes up to 900 MiB in ., at most 4 MiB at a time, in up to 60 s; Ctrl-C leaves nothing behind
.  xfs rw, 8 % full  on  sda 1 TiB, write-back cache
Linux 6.1, 8 CPUs

                       condition               rate  ±95 %  bottleneck
 read_8192             no sync           90.1 MiB/s    4 %  device
 randread, iodepth 32                          n.m.

             of limit
 read_8192   99 ±1 % of the device
 randread    n.m.

cp on .: trimmed mean 11 ms a run (median 11 ms)
5 rounds in random order (seed 1)
left_out: the time limit was reached after 3 of 5 rounds   diskperf help left_out
n.m. there is no page cache (randread)
";
    let unmeasured = other
        .replace("condition               rate  ±95 %  bottleneck", "rate")
        .replace("no sync           90.1 MiB/s    4 %  device", "n.m.");
    assert_eq!(difference(one, other), None);
    assert_eq!(difference(one, &unmeasured), None);
    assert_eq!(difference(one, &unmeasured.replace("5 rounds in random order (seed 1)", "Nothing was run")), None);
    for (word, instead) in [("read_8192", "read_4096"), ("MiB/s", "MB/s"), ("rate", "speed"), ("at most", "about")] {
        assert!(difference(one, &other.replace(word, instead)).is_some(), "{word}");
    }
    let last = one.lines().count() - 8;
    let shorter: Vec<&str> = one.lines().take(last).collect();
    assert!(difference(one, &shorter.join("\n")).is_some());
}
