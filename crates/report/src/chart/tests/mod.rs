//! Tests of all charts: well-formed XML with any names, sizes, and content.

mod example_documents;
mod hosts;
mod large_documents;
mod settings;
mod side_by_side;
mod svg_reader;

use proptest::prelude::*;
use stats::compare::replication::{self, Published, Simulated};
use stats::{Breakdown, Cell, Document, LatencyKind, MarkCode, ParameterValue, ProgramTime, Provenance, Verdict};
use units::Nanos;

use super::{Chart, Subject, over_time, paper, standalone};
use crate::compare::fixtures::{choice, comparison, pair};
use crate::presentation::Layout;
use example_documents::{cell, depths, document, host, mark, missing};
use svg_reader::{Checked, attribute, checked};

fn read(chart: &Chart) -> Checked {
    checked(&standalone(chart)).unwrap_or_else(|error| panic!("{error}: {}", standalone(chart)));
    checked(&chart.svg).unwrap_or_else(|error| panic!("{error}: {}", chart.svg))
}

fn charts(document: &Document) -> Vec<Chart> {
    super::charts(document, Layout::Plain)
}

fn charts_of_subject(document: &Document, subject: Subject) -> Vec<Chart> {
    charts(document).into_iter().filter(|chart| chart.subject == subject).collect()
}

fn only(document: &Document, subject: Subject) -> (Chart, Checked) {
    let mut charts = charts_of_subject(document, subject);
    assert_eq!(charts.len(), 1, "{charts:#?}");
    let chart = charts.remove(0);
    let checked = read(&chart);
    (chart, checked)
}

fn percent(text: &str) -> f64 {
    text.strip_suffix('%').and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{text} is no percentage"))
}

/// A document with data for every chart, in which everything has one of these names.
fn everything(name: &str, other: &str) -> Document {
    let sweep = [1u64, 16, 256, 4096].map(|bytes| {
        let mut cell = cell("copy", name, &[800 * bytes, 801 * bytes]);
        cell.parameters.insert("buffer_bytes".to_owned(), ParameterValue::Number(bytes));
        cell.parameters.insert("sync".to_owned(), ParameterValue::Word(other.to_owned()));
        cell
    });
    let mut noisy = cell(other, name, &[800, 1600, 800]);
    noisy.marks = vec![mark(MarkCode::Noise), mark(MarkCode::Step)];
    noisy.marks[0].text = name.to_owned();
    noisy.rounds[1].marks.push(mark(MarkCode::Noise));
    noisy.hosts = vec![host(name, Some(300.0)), host(other, Some(500.0))];
    let mut late = cell("paced", name, &[800]);
    late.latency_ns.as_mut().expect("times").kind = LatencyKind::Response;
    late.rate.as_mut().expect("a rate").unit = name.to_owned();
    let mut simulated = cell("simulated", name, &[800]);
    let owners = [("copy", 7), ("waiting_seek", 3), (name, 2)];
    let owners = owners.map(|(owner, nanos)| (owner.to_owned(), Nanos(nanos))).into();
    let programs = vec![ProgramTime { elapsed: Nanos(12), owners }];
    simulated.breakdown = Some(Breakdown { programs, ..Breakdown::default() });
    let together = Cell { together: true, targets: 2, ..cell(other, &format!("{name}+{other}"), &[1500, 2000, 1500]) };
    let published = Cell { provenance: Provenance::Published, ..cell(other, "a paper", &[400]) };
    let mut cells =
        vec![noisy, cell(other, other, &[1600, 1600, 1600]), missing(other, name), late, simulated, together];
    cells.extend(sweep);
    cells.extend(depths(name));
    cells.push(published);
    let mut document = document(cells);
    let pair = |verdict, ends| comparison(other, [name, other], verdict, ends);
    document.run.choice = Some(Box::new(choice(vec![
        pair(Verdict::Faster, [1.2, 1.3, 1.4]),
        pair(Verdict::Same, [0.98, 1.0, 1.02]),
        pair(Verdict::Undecided, [0.5, 1.1, 2.0]),
    ])));
    document
}

#[test]
fn every_subject_has_its_chart_in_order_and_no_chart_is_made_of_nothing() {
    let all: Vec<Subject> = charts(&everything("here", "there")).iter().map(|chart| chart.subject).collect();
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(all, sorted);
    sorted.dedup();
    assert_eq!(sorted.len(), 10, "{sorted:?}");
    assert_eq!(charts(&document(Vec::new())), []);
    let nothing = charts(&document(vec![missing("read", "here")]));
    assert!(nothing.is_empty(), "{nothing:#?}");
}

#[test]
fn a_chart_says_what_it_is_to_who_cannot_see_it() {
    for chart in charts(&everything("here", "there")) {
        let checked = read(&chart);
        let (root, attributes) = &checked.elements[0];
        assert_eq!(
            (root.as_str(), attribute(attributes, "role"), attribute(attributes, "width")),
            ("svg", "img", "100%")
        );
        assert_eq!(attribute(attributes, "height"), chart.height.to_string());
        assert_eq!([&checked.elements[1].0, &checked.elements[2].0], ["title", "desc"]);
        assert!(chart.svg.contains("<title>") && chart.told.ends_with('.'), "{chart:#?}");
        assert!(!chart.svg.contains(" id=") && !chart.svg.contains(" style=") && !chart.svg.contains("href"));
        let names: Vec<&str> = checked.of_class("series").map(|group| attribute(group, "data-series")).collect();
        assert!(
            names.iter().all(|name| chart.series.iter().any(|series| series == name)),
            "{names:?} {:?}",
            chart.series
        );
    }
}

#[test]
fn rates_have_a_bar_for_each_target_and_n_m_where_there_is_none() {
    let mut suspect = cell("write", "xfs", &[2000, 2200]);
    suspect.marks.push(mark(MarkCode::Noise));
    let cells = vec![
        cell("read", "ext4", &[1000, 1200, 800]),
        missing("write", "ext4"),
        cell("read", "xfs", &[2000, 2000, 2000]),
        suspect,
    ];
    let (chart, checked) = only(&document(cells), Subject::Rates);
    assert_eq!(chart.series, ["ext4", "xfs"]);
    let texts = &checked.texts;
    let at = |text: &str| texts.iter().position(|other| other == text).unwrap_or_else(|| panic!("{text}: {texts:?}"));
    assert!(at("read") < at("1,000 ops/s") && at("1,000 ops/s") < at("write"), "{texts:?}");
    assert!(at("write") < at("n.m.") && at("n.m.") < at("1,100 ops/s*"), "{texts:?}");
    let widths: Vec<f64> = checked.of_class("bar").map(|bar| percent(attribute(bar, "width"))).collect();
    assert_eq!(widths.len(), 3);
    assert!((widths[1] / widths[0] - 2.0).abs() < 0.01 && widths[2] > widths[1], "{widths:?}");
    // A dot for each of three rounds.
    let dots: Vec<usize> = checked.of_class("within").map(|dots| attribute(dots, "d").matches("h0").count()).collect();
    assert_eq!(dots, [3, 3, 2]);
    let tips: Vec<&str> = checked.of_class("tip").map(|tip| attribute(tip, "data-tip")).collect();
    assert!(tips.iter().any(|tip| tip.contains("nobody could")), "{tips:?}");
    assert!(tips.iter().any(|tip| tip.ends_with("noise: as it is <noise>")), "{tips:?}");
}

fn tips<'a>(checked: &'a Checked, class: &'a str) -> Vec<&'a str> {
    checked.of_class(class).map(|tip| attribute(tip, "data-tip")).collect()
}

#[test]
fn of_runs_of_a_command_it_is_drawn_how_long_one_takes() {
    // 50 and 100 runs per second: 20 and 10 ms.
    let mut cells = [("slow", 100), ("fast", 200)].map(|(target, runs)| cell("command", target, &[runs, runs]));
    cells.iter_mut().for_each(|cell| cell.rate.as_mut().expect("a rate").unit = stats::figures::rate::RUNS.to_owned());
    let (chart, checked) = only(&document(cells.to_vec()), Subject::Rates);
    assert_eq!(chart.title, "Time of a run, shorter is faster");
    let widths: Vec<f64> = checked.of_class("bar").map(|bar| percent(attribute(bar, "width"))).collect();
    assert!((widths[0] / widths[1] - 2.0).abs() < 0.01, "{widths:?}");
    assert!(checked.texts.iter().any(|text| text == "20 ms"), "{:?}", checked.texts);
    let tips = tips(&checked, "tip");
    assert!(tips[0].contains("20 ms/run (18 to 22 ms, 95 %), 2 rounds"), "{tips:?}");
    assert!(!chart.svg.contains("runs/s"));
}

#[test]
fn what_is_suspect_has_its_star_in_every_chart() {
    let suspect = |cell: Cell| Cell { marks: vec![mark(MarkCode::Noise)], ..cell };
    let (_, times) = only(&document(vec![suspect(cell("read", "a", &[1000, 1000]))]), Subject::Latency);
    assert!(times.texts.iter().any(|text| text == "5.00 us / 20.0 us*"), "{:?}", times.texts);
    assert!(tips(&times, "tip")[0].contains("max 4.00 ms*; 5,000 operations; noise: as it is"));
    let alone = |target| cell("write", target, &[1000, 1000]);
    let together = Cell { together: true, targets: 2, ..cell("write", "a+b", &[1600, 1600]) };
    let (_, sums) = only(&document(vec![suspect(alone("a")), alone("b"), together]), Subject::Together);
    assert!(sums.texts.iter().any(|text| text == "alone: 500* + 500 = 1,000*"), "{:?}", sums.texts);
    let mut sweep = [1u64, 16, 256, 4096].map(|bytes| {
        let mut cell = cell("copy", "here", &[800, 800]);
        cell.parameters.insert("buffer_bytes".to_owned(), ParameterValue::Number(bytes));
        cell
    });
    sweep[2] = suspect(sweep[2].clone());
    let (_, curve) = only(&document(sweep.to_vec()), Subject::Sweep);
    assert_eq!((curve.count("hollow"), curve.count("whisker")), (1, 1));
    let tips = tips(&curve, "mark");
    assert!(tips[2].contains("2.00* (1.82 to 2.22, 95 %) seconds; noise: as it is"), "{tips:?}");
}

#[test]
fn what_was_not_measured_stands_under_the_unit_of_its_program_or_in_words() {
    let phase = |phase: &str, cell: Cell| Cell { phase: phase.to_owned(), ..cell };
    let mut bytes = phase("read", cell("files", "here", &[80, 80]));
    bytes.rate.as_mut().expect("a rate").unit = "MiB/s".to_owned();
    let cells = vec![
        missing("randread", "here"),
        missing("commit", "here"),
        cell("write", "here", &[80, 80]),
        phase("sync", missing("files", "here")),
        bytes,
    ];
    let charts = charts_of_subject(&document(cells), Subject::Rates);
    let texts: Vec<Vec<String>> = charts.iter().map(|chart| read(chart).texts).collect();
    let has = |place: usize, words: &str| texts[place].iter().any(|text| text == words);
    assert_eq!((charts.len(), texts[0][3].as_str()), (2, "write"), "{texts:?}");
    assert!(!has(0, "n.m.") && has(1, "n.m.") && has(1, "files sync"), "{texts:?}");
    assert!(has(1, "n.m.: randread, commit") && charts[1].told.contains("n.m.: randread, commit"), "{texts:?}");
    let at = |text: &str| texts[1].iter().position(|other| other == text);
    assert!(at("files read") < at("files sync"), "{texts:?}");
}

#[test]
fn an_interval_of_two_rounds_does_not_take_the_room_of_the_bars() {
    let mut few = cell("write", "a", &[400, 500]);
    few.rate.as_mut().expect("a rate").high = Some(2700.0);
    let (_, checked) = only(&document(vec![few, cell("write", "b", &[400, 400])]), Subject::Rates);
    let widths: Vec<f64> = checked.of_class("bar").map(|bar| percent(attribute(bar, "width"))).collect();
    assert!(widths.iter().all(|width| *width > 70.0), "{widths:?}");
    let heads = checked.of_class("event").count();
    assert!(heads == 1 && tips(&checked, "tip")[0].contains("to 2,700, 95 %"), "{heads}");
}

#[test]
fn a_verdict_has_a_shape_and_words_and_stands_on_its_side_of_one() {
    let targets = ["ext4", "xfs"];
    let mut document = document(targets.map(|target| cell("read", target, &[800, 800])).to_vec());
    document.run.choice = Some(Box::new(choice(vec![
        comparison("a", targets, Verdict::Faster, [1.12, 1.17, 1.23]),
        comparison("b", targets, Verdict::Slower, [0.4, 0.5, 0.625]),
        comparison("c", targets, Verdict::Same, [0.98, 1.0, 1.02]),
        comparison("d", targets, Verdict::Undecided, [0.93, 1.03, 1.15]),
    ])));
    let (_, checked) = only(&document, Subject::Choice);
    for words in ["xfs faster: 1.17x (1.12-1.23)", "ext4 faster: 2.00x (1.60-2.50)", "the same within 5 %: 0.98-1.02"] {
        assert!(checked.texts.iter().any(|text| text == words), "{:?}", checked.texts);
    }
    let one = checked.of_class("one").next().map(|line| percent(attribute(line, "x1"))).expect("a line at 1");
    let marks = checked.elements.windows(2).filter(|pair| attribute(&pair[1].1, "class").starts_with("mark"));
    let place = |pair: &[(String, Vec<(String, String)>)]| match attribute(&pair[1].1, "cx") {
        "" => percent(attribute(&pair[0].1, "x")),
        middle => percent(middle),
    };
    let places: Vec<(f64, &str)> = marks.map(|pair| (place(pair), attribute(&pair[1].1, "d"))).collect();
    assert!(places[0].0 > one && places[1].0 < one && (places[2].0 - one).abs() < 0.1, "{one} {places:?}");
    let shapes: std::collections::BTreeSet<&str> = places.iter().map(|(_, shape)| *shape).collect();
    assert_eq!(shapes.len(), 4);
}

#[test]
fn of_stages_the_factor_is_said_as_it_is_drawn_and_the_total_comes_last() {
    let targets = ["dir/one-a", "dir/one-b", "dir/one-c"];
    let mut document = document(targets.map(|target| cell("read", target, &[800, 800])).to_vec());
    let pair = |one, other| comparison("read", [one, other], Verdict::Slower, [0.55, 0.6, 0.66]);
    let [a, b, c] = targets;
    let mut all = choice(vec![pair(a, b), pair(a, c), pair(b, c)]);
    document.run.choice = Some(Box::new(all.clone()));
    let free = charts_of_subject(&document, Subject::Choice);
    assert_eq!(free[0].title, "dir/one-a or dir/one-b: which is faster, and by what factor");
    assert!(read(&free[0]).texts.iter().any(|text| text == "a faster: 1.67x (1.52-1.82)"), "{free:#?}");
    let stage = |target: &str, changed: &[&str]| stats::Stage {
        target: target.to_owned(),
        changed: changed.iter().map(|word| (*word).to_owned()).collect(),
    };
    all.stages = vec![stage(a, &[]), stage(b, &["mount=noatime"]), stage(c, &[])];
    document.run.choice = Some(Box::new(all));
    let stages = charts_of_subject(&document, Subject::Choice);
    let titles: Vec<&str> = stages.iter().map(|chart| chart.title.as_str()).collect();
    let expected = [
        "Stage 2, mount=noatime: how many times as fast as stage 1",
        "Stage 3, nothing changed: how many times as fast as stage 2",
        "All stages together: how many times as fast",
    ];
    assert_eq!(titles, expected);
    assert!(read(&stages[0]).texts.iter().any(|text| text == "x0.60 (0.55-0.66)"), "{stages:#?}");
}

#[test]
fn what_happened_stands_at_its_round_and_a_step_where_it_was() {
    let mut stepped = cell("write", "here", &[1600, 1600, 1600]);
    stepped.rounds[0].marks.push(mark(MarkCode::Noise));
    for round in &mut stepped.rounds[1..] {
        round.intervals.iter_mut().for_each(|interval| interval.ops /= 4);
    }
    stepped.marks = vec![mark(MarkCode::Step), mark(MarkCode::Unsteady)];
    let regime = |first_round, last_round, per_second| stats::Regime {
        first_round,
        from_s: 0.0,
        last_round,
        bytes: 0,
        ops: 0,
        seconds: 0.0,
        per_second,
    };
    stepped.regimes = vec![regime(1, 1, 800.0), regime(2, 3, 200.0)];
    let (chart, checked) = only(&document(vec![stepped]), Subject::OverTime);
    let tips: Vec<&str> = checked.of_class("event").map(|event| attribute(event, "data-tip")).collect();
    let noise = "noise in round 1 of here: as it is <noise>";
    assert!(tips.contains(&noise) && tips.contains(&"step in round 2 of here: as it is <step>"), "{tips:?}");
    let texts = checked.texts.join(" ");
    for words in ["* unsteady of here: as it is", noise, "step in round 2 of here: as it is <step>"] {
        assert!(texts.contains(words), "{texts}");
    }
    assert!(texts.contains("rounds, of 8 quarters at most") && !texts.contains("flush"), "{texts}");
    // The second of three rounds begins after a third, and the step with it.
    let steps: Vec<f64> = checked.of_class("happened").map(|line| percent(attribute(line, "x1"))).collect();
    assert!(steps.iter().any(|x| (33.3..36.0).contains(x)), "{steps:?}");
    assert!(chart.told.contains("between 200 and 800"), "{}", chart.told);
    let lines: Vec<&str> = checked.of_class("line").map(|line| attribute(line, "d")).collect();
    assert_eq!(lines.iter().map(|line| line.matches('M').count()).sum::<usize>(), 3, "{lines:?}");
}

#[test]
fn marks_of_several_targets_are_told_apart_with_their_reasons() {
    let marked = |target: &str, rounds: &[usize], texts: &[&str]| {
        let mut cell = cell("write", target, &[1600, 1600, 1600]);
        for (round, text) in rounds.iter().zip(texts) {
            cell.rounds[*round].marks.push(stats::Mark { text: (*text).to_owned(), ..mark(MarkCode::Noise) });
        }
        cell.state.clock = stats::ClockKind::Durable;
        cell
    };
    let cells = vec![marked("ext4", &[0, 1], &["24 %", "31 %"]), marked("xfs", &[0], &["27 %"])];
    let (_, checked) = only(&document(cells), Subject::OverTime);
    let texts = checked.texts.join(" ");
    for words in ["noise in rounds 1 and 2 of ext4, in round 1: 24 %", "noise in round 1 of xfs: 27 %", "(flush)"] {
        assert!(texts.contains(words), "{texts}");
    }
    let tips = tips(&checked, "event");
    assert_eq!(
        tips[..2],
        ["noise in round 1 of ext4: 24 %; noise in round 1 of xfs: 27 %", "noise in round 2 of ext4: 31 %"]
    );
}

#[test]
fn a_file_of_its_own_names_lines_by_dashes_and_parts_by_squares() {
    let document = document(["a", "b"].map(|target| cell("write", target, &[1600, 1600])).to_vec());
    let keys = |subject| {
        let (chart, own) = only(&document, subject);
        let all = checked(&standalone(&chart)).expect("well-formed");
        (all.count("line") - own.count("line"), all.count("mark") - own.count("mark"))
    };
    assert_eq!([keys(Subject::OverTime), keys(Subject::Time)], [(2, 0), (0, 2)]);
}

#[test]
fn a_short_program_has_no_chart_over_time() {
    let mut short = cell("read", "here", &[8, 8]);
    short.rounds.iter_mut().for_each(|round| round.intervals.truncate(3));
    assert_eq!(charts_of_subject(&document(vec![short]), Subject::OverTime), []);
}

#[test]
fn rounds_that_do_not_count_are_drawn_of_a_device_only() {
    let mut device = document(vec![cell("write", "sdb", &[8000, 1600, 1600])]);
    device.cells[0].rounds[0].discarded = true;
    let drawn = |layout: Layout| {
        let charts = over_time::charts(&device, layout);
        assert_eq!(charts.len(), 1, "{charts:#?}");
        read(&charts[0])
    };
    assert_eq!(drawn(Layout::Plain).count("hit"), 2);
    assert_eq!(drawn(Layout::Device).count("hit"), 3);
    assert_eq!(drawn(Layout::Device).count("band"), 1);
}

#[test]
fn the_bounds_of_what_runs_at_once_are_those_of_stats() {
    let alone = |target| cell("write", target, &[1000, 1000]);
    let together = Cell { together: true, targets: 2, ..cell("write", "a+b", &[1600, 1600]) };
    // Each of two programs needs 60 % of the only CPU, which allows five sixths of their sum.
    let (_, checked) = only(&document(vec![alone("a"), alone("b"), together]), Subject::Together);
    for words in ["alone: 500 + 500 = 1,000", "together: 800", "CPU allows 833", "shared: CPU"] {
        assert!(checked.texts.iter().any(|text| text == words), "{words}: {:?}", checked.texts);
    }
    let bound = checked.of_class("bound").next().map(|line| percent(attribute(line, "x1"))).expect("a bound");
    assert!((bound - 83.33).abs() < 0.1, "{bound}");
}

#[test]
fn the_parts_of_a_millisecond_are_the_whole() {
    let (_, checked) = only(&document(vec![cell("read", "here", &[8, 8])]), Subject::Time);
    let parts: Vec<(f64, f64)> = checked
        .of_class("part")
        .map(|part| (percent(attribute(part, "x")), percent(attribute(part, "width"))))
        .collect();
    assert_eq!(parts, [(0.0, 70.0), (70.0, 30.0)]);
    assert!(checked.texts.iter().any(|text| text == "device service 70 %"), "{:?}", checked.texts);
}

#[test]
fn a_sweep_is_a_curve_and_no_bars() {
    let sweep = [1u64, 16, 256, 4096].map(|bytes| {
        let mut cell = cell("copy", "here", &[800, 800]);
        cell.parameters.insert("buffer_bytes".to_owned(), ParameterValue::Number(bytes));
        cell
    });
    let (chart, checked) = only(&document(sweep.to_vec()), Subject::Sweep);
    assert_eq!(checked.count("mark"), 4);
    assert!(chart.told.contains("here 2.00 with a buffer of 1 B, 2.00 with 4 KiB"), "{}", chart.told);
    assert_eq!(charts_of_subject(&document(sweep.to_vec()), Subject::Rates), []);
    assert_eq!(charts_of_subject(&document(sweep[1..].to_vec()), Subject::Sweep), []);
}

#[test]
fn what_was_published_stands_beside_what_was_found_in_one_unit() {
    let mut published = Cell { provenance: Provenance::Published, ..cell("read", "a paper", &[400]) };
    published.rate.as_mut().expect("a rate").unit = "k/s".to_owned();
    published.rate.as_mut().expect("a rate").value = 0.2;
    let (chart, checked) = only(&document(vec![cell("read", "here", &[800, 800]), published]), Subject::Paper);
    assert_eq!(chart.series, ["here", "a paper"]);
    assert!(
        checked.texts.contains(&"0.20 k/s".to_owned()) && checked.texts.contains(&"0.40 k/s".to_owned()),
        "{:?}",
        checked.texts
    );
}

#[test]
fn printed_and_simulated_figures_stand_on_one_line() {
    let comparison = |drives, published: Option<u32>| replication::Comparison {
        table: "T1".to_owned(),
        file_system: "8K/1K".to_owned(),
        configuration: "UDA50/RA81".to_owned(),
        drives,
        test: "read_8192".to_owned(),
        published: Published { kbytes_per_sec: published, measured: published.is_some(), ..Published::default() },
        simulated: Simulated { kbytes_per_sec: 342.0, cpu_percent: 40.0 },
        error_percent: None,
        cpu_percent_judged: None,
        limited_by: "transfer".to_owned(),
        judges: true,
        twins: Vec::new(),
    };
    let charts = paper(&[comparison(1, Some(310)), comparison(2, None)]);
    let checked = read(&charts[0]);
    assert_eq!((charts.len(), charts[0].subject), (1, Subject::Paper));
    assert!(checked.texts.contains(&"310 | 342".to_owned()) && checked.texts.contains(&"n.m. | 342".to_owned()));
    // Two marks in the legend, then two and one.
    assert_eq!(checked.count("mark"), 5);
}

/// A run of `quick` on three targets with ten rounds and half a minute for each program. Its charts use at most half of
/// a page.
#[test]
fn the_charts_of_a_large_run_are_small() {
    let cells = (0..39).map(|number| {
        let mut cell =
            cell(&format!("program_{}", number % 13), &format!("target {}", number / 13), &[900 + number; 10]);
        for (place, round) in cell.rounds.iter_mut().enumerate() {
            let quarters = round.intervals.clone().into_iter().cycle().take(120);
            round.intervals = quarters
                .zip(1..)
                .map(|(interval, at)| stats::RateInterval { ops: at * (place as u64 + 7) % 97, ..interval })
                .collect();
        }
        cell
    });
    let charts = charts(&document(cells.collect()));
    let bytes: usize = charts.iter().map(|chart| chart.svg.len()).sum();
    assert!(charts.iter().any(|chart| chart.subject == Subject::OverTime));
    let sizes: Vec<String> = charts.iter().map(|chart| format!("{} {}", chart.title, chart.svg.len())).collect();
    assert!(bytes < 150_000, "{bytes}: {sizes:#?}");
}

/// Every pair of many targets is compared. Charts of the pairs with the best target come first, then as many others as
/// fit.
#[test]
fn the_charts_of_many_targets_are_small_too() {
    for count in [5usize, 10] {
        let names: Vec<String> = (0..count).map(|target| format!("new:ext4,size=4GiB@/dev/loop{target}")).collect();
        let programs: Vec<String> = (0..20).map(|program| format!("program_{program}")).collect();
        let cells = programs.iter().flat_map(|program| names.iter().map(|name| cell(program, name, &[900; 10])));
        let mut document = document(cells.collect());
        let mut pairs = Vec::new();
        for (first, second) in stats::compare::target_comparison::every_two(count) {
            let sides = [names[first].as_str(), names[second].as_str()];
            // The third target is the best one.
            let (verdict, ends) = match (first, second) {
                (2, _) => (Verdict::Slower, [0.5, 0.6, 0.7]),
                (_, 2) => (Verdict::Faster, [1.2, 1.3, 1.4]),
                _ => (Verdict::Same, [1.2, 1.3, 1.4]),
            };
            pairs.extend(programs.iter().map(|program| comparison(program, sides, verdict, ends)));
        }
        document.run.choice = Some(Box::new(choice(pairs)));
        let charts = charts(&document);
        let bytes: usize = charts.iter().map(|chart| chart.svg.len()).sum();
        let sizes: Vec<String> = charts.iter().map(|chart| format!("{} {}", chart.title, chart.svg.len())).collect();
        assert!(bytes <= super::MOST_BYTES, "{bytes}: {sizes:#?}");
        for subject in [Subject::Rates, Subject::Choice, Subject::OverTime, Subject::Latency, Subject::Time] {
            assert!(charts.iter().any(|chart| chart.subject == subject), "{count}: no {subject:?}: {sizes:#?}");
        }
        let compared: Vec<&Chart> = charts.iter().filter(|chart| chart.subject == Subject::Choice).collect();
        assert!(compared[0].title.contains("loop2"), "{sizes:#?}");
        let said = compared.last().expect("there is one");
        let left_out = " left out; see the table)";
        assert!(said.title.contains(left_out) && said.told.contains(left_out), "{sizes:#?}");
        charts.iter().for_each(|chart| drop(read(chart)));
    }
}

/// More rounds than can be drawn separately.
#[test]
fn a_chart_of_very_many_rounds_is_small_too() {
    let mut long = cell("write", "here", &[800; 5000]);
    long.rounds.iter_mut().for_each(|round| round.marks.push(mark(MarkCode::Noise)));
    let document = document(vec![long]);
    for chart in charts(&document) {
        assert!(chart.svg.len() < 30_000, "{}: {}", chart.title, chart.svg.len());
    }
    let (_, checked) = only(&document, Subject::OverTime);
    assert!(checked.texts.concat().contains("and 4992 more"), "{:?}", checked.texts);
}

/// Numbers that no run writes, but that a document from others may contain.
#[test]
fn no_number_breaks_a_chart() {
    for value in [0.0, -1.0, 5e-324, 1e300, f64::MAX] {
        let mut document = everything("here", "there");
        for cell in &mut document.cells {
            if let Some(rate) = &mut cell.rate {
                (rate.per_second, rate.value, rate.low, rate.high) = (value, value, Some(-value), Some(value));
            }
            for round in &mut cell.rounds {
                (round.returned_s, round.ops, round.bytes) = (value, u64::MAX, u64::MAX);
            }
            if let Some(latency) = &mut cell.latency_ns {
                (latency.p50, latency.max) = (0, u64::MAX);
            }
            if let Some(time) = &mut cell.time {
                time.values_mut().for_each(|nanos| *nanos = u64::MAX);
            }
        }
        for comparison in document.run.choice.iter_mut().flat_map(|choice| &mut choice.comparisons) {
            (comparison.ratio, comparison.low, comparison.high) = (Some(value), Some(-value), Some(value));
        }
        for chart in charts(&document) {
            for (name, place) in read(&chart).elements.iter().flat_map(|(_, attributes)| attributes) {
                let is_word = ["data-tip", "data-series", "class"].contains(&name.as_str());
                assert!(is_word || !(place.contains("NaN") || place.contains("inf")), "{value}: {name}={place}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// With any names, no name ends an element, an attribute or a style.
    #[test]
    fn names_are_words_and_nothing_else(
        name in "[<>&\"' a\u{0}\u{1b}\u{202e}\u{ffff}é]{1,12}|</text><script>x</script>|\" onload=\"x|]]>|\
            <!--|\\PC{1,30}",
        other in "[<>&\"'/=b\n\t\u{85}]{1,8}|\\PC{0,40}",
    ) {
        for chart in charts(&everything(&name, &other)) {
            let checked = read(&chart);
            let elements = ["svg", "title", "desc", "g", "text", "rect", "line", "path", "circle"];
            for (element, _) in &checked.elements {
                prop_assert!(elements.contains(&element.as_str()), "{}", element);
            }
            let known = ["xmlns", "class", "role", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "d", "viewBox",
                "preserveAspectRatio", "cx", "cy", "r", "text-anchor", "dx", "data-series", "data-tip"];
            let attributes = checked.elements.iter().flat_map(|(_, attributes)| attributes);
            for (attribute, _) in attributes {
                prop_assert!(known.contains(&attribute.as_str()), "{}", attribute);
            }
        }
    }
}

#[test]
fn an_owner_of_time_has_one_colour_whatever_its_share() {
    let class_of = |system: u64| {
        let mut cell = cell("read", "here", &[800]);
        let owners = [("system", system), ("device_service", 5_000), ("unheard_of", 1_000)];
        cell.time = Some(owners.into_iter().map(|(owner, nanos)| (owner.to_owned(), nanos)).collect());
        let (chart, checked) = only(&document(vec![cell]), Subject::Time);
        let class = |name: &str| {
            let place = chart.series.iter().position(|series| series == name).expect("it is drawn");
            let group = checked.of_class("series").find(|group| attribute(group, "data-series") == name);
            let classes = attribute(group.expect("it is drawn"), "class").to_owned();
            assert!(classes.split(' ').any(|one| one == chart.class(place)), "{classes}: {}", chart.class(place));
            chart.class(place)
        };
        ["system", "device service", "unheard of"].map(class)
    };
    let classes = class_of(100);
    assert_eq!(classes, class_of(90_000));
    assert!(classes[0] != classes[1] && classes[1] != classes[2], "{classes:?}");
}
