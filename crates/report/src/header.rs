//! The lines around every table: targets and machine above it, rounds and warnings below it.

use std::collections::{BTreeMap, BTreeSet};

use stats::digits::significant;
use stats::figures::continuous_load::continuous_load;
use stats::figures::summary::CONFIDENCE;
use stats::{Aged, Cell, Document, LowerCache, Mark, MarkCode, Noise, Problem, Provenance, Remark, TargetInfo};
use units::{Bytes, Nanos, whole};

use crate::cell_names::{CellNames, different, grouped};
use crate::compare::target_settings;
use crate::layouts::device::conditioned;
use crate::of_limit;
use crate::presentation::Layout;
use crate::sanitize;
use stats::figures::rate::half_width;

/// A line per target, and one about the machine.
pub fn lines(document: &Document, layout: Layout) -> String {
    let run = &document.run;
    let is_unknown = |cell: &&Cell| cell.state.lower_cache == Some(LowerCache::NotMeasured);
    let unknown: BTreeSet<&str> = document.cells.iter().filter(is_unknown).map(|cell| cell.target.as_str()).collect();
    let of = |info: &TargetInfo| target(info) + &if layout == Layout::Device { device(info) } else { String::new() };
    let mut lines: Vec<String> = run.targets.iter().map(of).collect();
    lines.extend(target_settings::lines(&run.targets));
    // The cache below the OS is probed only for reads that came from the device.
    let unknown: Vec<&str> =
        run.targets.iter().map(|info| info.name.as_str()).filter(|name| unknown.contains(name)).collect();
    if !unknown.is_empty() {
        let of = if unknown.len() == run.targets.len() { String::new() } else { format!(" of {}", unknown.join(", ")) };
        lines.push(format!("cache below the OS (host, drive){of}: not visible"));
    }
    let mut memory = run.memory_bytes.map_or_else(String::new, |bytes| format!(", {} memory", size(bytes)));
    if let Some(limit) = run.memory_limit_bytes {
        memory += &format!(", {} of it for this run", size(limit));
    }
    // A simulated result is the same on every computer, so it needs no kernel and CPUs.
    if document.cells.is_empty() || document.cells.iter().any(|cell| cell.provenance == Provenance::Measured) {
        lines.push(format!("{}, {} CPUs{memory}", run.kernel, run.cpus));
    }
    if let Some(store) = run.store.as_ref().filter(|store| !store.under_test.is_empty()) {
        let written = store.written_bytes.map_or_else(|| "n.m.".to_owned(), size);
        let devices = store.under_test.join(", ");
        lines.push(format!("results database also on {devices}: {written} written between tests, none during them"));
    }
    lines.join("\n") + "\n"
}

fn target(target: &TargetInfo) -> String {
    let mut line = target.name.clone();
    let own = target.own_argument();
    if own != target.name {
        line += &format!("  {own}");
    }
    if let Some(file_system) = &target.file_system {
        line += &format!("  {file_system}");
        if !target.mount_options.is_empty() {
            line += &format!(" {}", target.mount_options.join(","));
        }
    }
    if let Some(fill) = target.fill_percent {
        line += &format!(", {fill:.0} % full");
    }
    if let Some(image) = &target.image {
        line += &format!(", loop image of {}", size(image.bytes));
        if let Some(file_system) = &image.host_file_system {
            line += &format!(" on {file_system}");
        }
        if let Some(device) = &image.host_device {
            line += &format!(" on {device}");
        }
        if !image.direct_io {
            line += ", through that file system's page cache";
        }
    }
    let is_ours = target.image.is_some() || own.starts_with("new:");
    match &target.aged {
        Some(aged) => line += &format!(", aged: {}", aged_in_words(aged)),
        None if is_ours => line += ", not aged",
        None => {}
    }
    if let Some(loaded) = &target.loaded {
        line += &format!(", loaded first: {} in {} s", size(loaded.bytes), significant(loaded.seconds, 2));
    }
    if let Some(before) = &target.before_each {
        line += &format!(", {before}");
    }
    if let Some(device) = &target.device {
        line += &format!("  on  {device}");
        if let Some(bytes) = target.device_bytes {
            line += &format!(" {}", size(bytes));
        }
        if let Some(cache) = &target.write_cache {
            line += &format!(", {} cache", cache.replace(' ', "-"));
        }
    }
    if let Some(first) = &target.same_as {
        line += &format!(", the same directory as {first}");
    }
    if let Some(tuning) = &target.tuning {
        line += &format!(", tune={}", tuning.replace(", ", "+"));
    }
    line
}

/// Returns temperature and conditioning of a raw device.
fn device(target: &TargetInfo) -> String {
    let heat = target.heat.as_deref().unwrap_or("n.m. (no sensor is visible)");
    let conditioned = target.conditioned.as_ref().map_or_else(String::new, |done| format!(", {}", conditioned(done)));
    format!(", temperature: {heat}{conditioned}")
}

/// `1,000 churns at 70 % (seed 1)`.
fn aged_in_words(aged: &Aged) -> String {
    match aged.churns {
        0 => format!("filled (seed {})", aged.seed),
        churns => format!("{} churns at {} % (seed {})", whole(churns.into()), aged.fill, aged.seed),
    }
}

/// Returns in words how a file system was aged before it was measured.
pub fn aged(aged: &Aged) -> String {
    let Aged { files_made, files_deleted, written_bytes, elapsed_s, .. } = aged;
    format!(
        "{}; {} files created, {} of them deleted, {} written in {} s",
        aged_in_words(aged),
        whole(*files_made),
        whole(*files_deleted),
        size(*written_bytes),
        significant(*elapsed_s, 2)
    )
}

fn size(bytes: u64) -> String {
    let (divisor, unit) = [(1u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")]
        .into_iter()
        .find(|(divisor, _)| bytes >= *divisor)
        .unwrap_or((1 << 10, "KiB"));
    if bytes < 1 << 10 {
        Bytes(bytes).to_string()
    } else {
        format!("{} {unit}", significant(bytes as f64 / divisor as f64, 3))
    }
}

/// Returns the footnote of a warning: its text if all cells with it have the same text; otherwise the worst one, and
/// the number of the others.
fn footnote(names: &Names, code: MarkCode, marks: &[(&Mark, &Cell)]) -> String {
    let size = |mark: &Mark| match (code.is_worse_lower(), mark.value) {
        (true, value) => -value.unwrap_or(f64::INFINITY),
        (false, value) => value.map_or(0.0, f64::abs),
    };
    let Some((most, cell)) = marks.iter().max_by(|(a, _), (b, _)| size(a).total_cmp(&size(b))) else {
        return String::new();
    };
    let text = sanitize::brief(&most.text);
    if marks.iter().all(|(mark, _)| mark.text == most.text) {
        let programs = different(marks.iter().map(|(_, cell)| cell.program.as_str()));
        return format!("{text} ({})", few(&programs, PROGRAMS_NAMED, ", "));
    }
    let others = match marks.len() - 1 {
        1 => "1 more result".to_owned(),
        others => format!("{others} more results"),
    };
    format!("{text} ({}); also {others}", names.name_with_target(cell))
}

/// The legend of `n.m.`, below a table that has it.
pub fn not_measured(table: &str) -> &'static str {
    if table.contains("n.m.") { "n.m. = not measured\n" } else { "" }
}

/// Returns the footnotes: rounds, warnings, and reasons why something was not measured.
pub fn footnotes(document: &Document) -> String {
    let mut text = format!("{}\n", how(document));
    text.extend(not_tested(document).map(|line| line + "\n"));
    if let Some(noise) = &document.run.noise {
        text += &format!("{}\n", describe_noise(noise));
    }
    for (code, words) in marks(document) {
        text += &format!("{}{1}: {words}   diskperf help {1}\n", star(code), code.name());
    }
    for (remark, words) in remarks(document) {
        text += &format!("{remark}: {words}   diskperf help {remark}\n");
    }
    text + &reasons(document)
}

/// Returns the sentence about the load that no target had; `None` for simulated machines. A burst credit that lasts
/// longer would not show.
pub fn not_tested(document: &Document) -> Option<String> {
    let load = continuous_load(document)?;
    let seconds = Nanos((load.seconds * 1e9) as u64);
    let bytes = if load.bytes > 0 { format!("{} or ", size(load.bytes)) } else { String::new() };
    Some(format!("Not tested: more than {bytes}{seconds} of continuous load"))
}

/// Returns the background load of the run: `noise in 90 of 108 rounds, mostly CPU steal (up to 12 %)`. Earlier versions
/// did not record the kind of load, and put the rounds at the end.
pub fn describe_noise(noise: &Noise) -> String {
    let colon = if noise.kind.is_some() { "" } else { ":" };
    format!("{}{colon} {}", MarkCode::Noise.name(), noise.text)
}

/// Returns one line: rounds, their seed, the widest interval and the overhead of diskperf.
pub fn how(document: &Document) -> String {
    let run = &document.run;
    let done = document.cells.iter().map(|cell| cell.rounds.len()).max().unwrap_or(0);
    let rounds = match (done, run.rounds as usize) {
        (_, 1) if run.phases.is_some() => "simulated once".to_owned(),
        (done, planned) if run.phases.is_some() => {
            format!("means of {} runs with different starting rotational positions", done.min(planned))
        }
        (1, 1) => "1 round".to_owned(),
        (done, planned) if done < planned => format!("{done} of {planned} rounds"),
        (_, planned) => {
            let is_discarded = |cell: &Cell| cell.rounds.first().is_some_and(|round| round.discarded);
            let discarded = if document.cells.iter().any(is_discarded) { " (the first discarded)" } else { "" };
            format!("{planned} rounds{discarded} in random order")
        }
    };
    if done == 0 && run.phases.is_none() {
        return if run.interrupted { "Interrupted before anything was measured" } else { "Nothing was run" }.to_owned();
    }
    let mut text = format!("{rounds} (seed {})", run.seed);
    if run.interrupted {
        text += "; interrupted";
    }
    let confidence = 100.0 * CONFIDENCE;
    text += &match widest_interval(&document.cells) {
        Some(widest) if widest > 100.0 => format!("; the widest {confidence:.0} % interval includes zero"),
        Some(widest) => format!("; {confidence:.0} % intervals at most ±{widest:.0} %"),
        None => String::new(),
    };
    let costs = costs(document);
    if !costs.is_empty() {
        text += &format!(". {}", costs.join("; "));
    }
    text
}

/// Returns the sentence about an interruption, with the number of finished rounds; `None` if the run was not
/// interrupted.
pub fn interrupted(document: &Document) -> Option<String> {
    let run = &document.run;
    if !run.interrupted {
        return None;
    }
    let done = document.cells.iter().map(|cell| cell.rounds.len()).max().unwrap_or(0);
    let s = |count: usize| if count == 1 { "" } else { "s" };
    let missing =
        document.cells.iter().filter(|cell| !cell.measured && cell.provenance != Provenance::Published).count();
    let are = if missing == 1 { "is" } else { "are" };
    let missing = if missing == 0 { String::new() } else { format!("; {missing} row{} {are} n.m.", s(missing)) };
    let planned = run.rounds as usize;
    let text = format!("Interrupted after {done} of {planned} round{}{missing}", s(planned));
    Some(text.trim_end_matches('.').to_owned() + ".")
}

/// The place of an error: `sh on tgt: `. The phase is added if its name differs from the program's.
pub fn place(problem: &Problem) -> String {
    let phase = problem.phase.as_ref().filter(|phase| problem.program.as_ref() != Some(*phase));
    let what: Vec<&str> = [problem.program.as_ref(), phase].into_iter().flatten().map(String::as_str).collect();
    match (what.join(" "), &problem.target) {
        (what, Some(target)) if what.is_empty() => format!("{target}:"),
        (what, Some(target)) => format!("{what} on {target}:"),
        (what, None) if what.is_empty() => what,
        (what, None) => format!("{what}:"),
    }
}

/// Returns each warning that a cell has, with its footnote.
pub fn marks(document: &Document) -> Vec<(MarkCode, String)> {
    let mut marks: BTreeMap<MarkCode, Vec<(&Mark, &Cell)>> = BTreeMap::new();
    for cell in &document.cells {
        for mark in &cell.marks {
            marks.entry(mark.code).or_default().push((mark, cell));
        }
    }
    let names = Names::new(document);
    marks.into_iter().map(|(code, marks)| (code, footnote(&names, code, &marks))).collect()
}

/// Returns each remark on the run: its kind, and its text with the programs that it concerns.
pub fn remarks(document: &Document) -> Vec<(&'static str, String)> {
    let has_several = document.run.targets.len() > 1;
    let place = |remark: &Remark| match (&remark.program, remark.target.as_ref().filter(|_| has_several)) {
        (Some(program), Some(target)) => Some(format!("{program} on {target}")),
        (program, target) => program.as_ref().or(target).cloned(),
    };
    let by_text =
        grouped(document.run.remarks.iter().map(|remark| ((remark.kind.name(), remark.text.as_str()), remark)));
    let line = |((kind, text), remarks): ((&'static str, &str), Vec<&Remark>)| {
        let places = different(remarks.into_iter().filter_map(place));
        let places = if places.is_empty() { String::new() } else { format!(" ({})", few(&places, NAMED, "; ")) };
        (kind, text.to_owned() + &places)
    };
    by_text.into_iter().map(line).collect()
}

/// The star before a warning. A loop image is reported without one.
pub fn star(code: MarkCode) -> &'static str {
    if code == MarkCode::Nested { "" } else { "* " }
}

/// A line for each reason why something was not measured.
pub fn reasons(document: &Document) -> String {
    let unmeasured = document.cells.iter().filter(|cell| !cell.measured && cell.marks.is_empty());
    let reasons = unmeasured.filter_map(|cell| Some((cell.reason.as_deref()?, cell)));
    let names = Names::new(document);
    let text = by_reason(&names, "n.m.", reasons);
    let unproven = document.cells.iter().filter(|cell| cell.measured);
    let cached = unproven.clone().filter_map(|cell| Some((cell.state.cache_reason.as_deref()?, cell)));
    let unverified = unproven.filter_map(|cell| Some((cell.state.unverified.as_deref()?, cell)));
    text + &by_reason(&names, "cache state n.m.:", cached)
        + &by_reason(&names, "unverified:", unverified)
        + &by_reason(&names, "of limit n.m.:", of_limit::reasons(document))
}

/// A line for each reason, with the cells that have it.
fn by_reason<'a>(names: &Names, what: &str, cells: impl Iterator<Item = (&'a str, &'a Cell)>) -> String {
    let lines = grouped(cells)
        .into_iter()
        .map(|(reason, cells)| format!("{what} {reason} ({})\n", few(&names.of_all(&cells), NAMED, "; ")));
    lines.collect()
}

/// Returns half the width of the widest interval, in percent of its rate.
fn widest_interval(cells: &[Cell]) -> Option<f64> {
    cells.iter().filter_map(|cell| half_width(cell.rate.as_ref()?)).max_by(f64::total_cmp)
}

/// Returns two costs, as words. The first is the overhead of diskperf in percent of the tests' CPU time, or of all
/// measured time if only the timing of operations is known. The second is the CPU time of kernel threads, in percent of
/// all measured time.
fn costs(document: &Document) -> Vec<String> {
    let percent = |value: f64| if value < 10.0 { significant(value, 1) } else { significant(value, 2) };
    let calibration = document.run.calibration;
    let measured = document.cells.iter().filter(|cell| cell.provenance == Provenance::Measured && cell.measured);
    let (mut workers, mut elapsed) = (Some(0.0), 0.0);
    for (cell, round) in measured.flat_map(|cell| cell.kept().map(move |round| (cell, round))) {
        workers = workers.zip(round.cpu_s.kernel_workers).map(|(sum, part)| sum + part);
        elapsed += round.elapsed_s(cell.state.clock);
    }
    let workers = workers.filter(|_| elapsed > 0.0).map(|workers| 100.0 * workers / elapsed);
    let tool = calibration.map(|calibration| match (calibration.own, calibration.tool_percent) {
        (Some(own), _) => {
            let each = significant(own.ns_per_op / 1e3, 2);
            format!("diskperf overhead: {} % CPU, {each} us per operation", percent(own.cpu_percent))
        }
        (None, Some(share)) => format!("diskperf overhead: {} % of the time", percent(share)),
        (None, None) => "diskperf overhead: n.m.".to_owned(),
    });
    let tool = tool.filter(|_| elapsed > 0.0);
    let workers = workers.map(|workers| format!("kernel threads: {} % CPU", percent(workers)));
    tool.into_iter().chain(workers).collect()
}

/// The most cells that are named with one reason. A choice.
const NAMED: usize = 4;

/// The most programs that are named with one warning: more than any preset has.
const PROGRAMS_NAMED: usize = 32;

/// Joins the first `most` words and the number of the rest: `a; b and 3 more`.
fn few<T: AsRef<str>>(words: &[T], most: usize, between: &str) -> String {
    let first = words.iter().take(most).map(AsRef::as_ref).collect::<Vec<&str>>().join(between);
    match words.len().saturating_sub(most) {
        0 => first,
        rest => format!("{first} and {rest} more"),
    }
}

/// The names of results below a table. They include the target if there are several targets.
struct Names<'a> {
    names: CellNames<'a>,
    targets: usize,
}

impl<'a> Names<'a> {
    fn new(document: &'a Document) -> Names<'a> {
        Names { names: CellNames::from_cells(&document.cells), targets: document.run.targets.len() }
    }

    fn name_with_target(&self, cell: &Cell) -> String {
        let place = if self.targets > 1 { format!(" on {}", cell.target) } else { String::new() };
        self.names.name(cell) + &place
    }

    /// Returns the names of several results, each once. A result that all targets have is named without its target.
    fn of_all(&self, cells: &[&Cell]) -> Vec<String> {
        let by_name = grouped(cells.iter().map(|cell| (self.names.name(cell), *cell)));
        let names = by_name.into_iter().flat_map(|(name, cells)| {
            let targets = different(cells.iter().map(|cell| cell.target.as_str()));
            if targets.len() >= self.targets {
                vec![name]
            } else {
                cells.into_iter().map(|cell| self.name_with_target(cell)).collect()
            }
        });
        different(names)
    }
}
