//! The HTML page: its content, its escaping, its size.

use std::collections::BTreeSet;

use report::glossary::Topic;
use report::html::{Detail, LARGEST, Run, page};
use report::sanitize;
use report::{Group, Layout, Presentation, Question};
use stats::compare::replication::{Comparison, PAPER_SCHEMA, PaperDocument, Published, Simulated};
use stats::{Cell, Document, Mark, MarkCode};

/// Two groups of the tests of `quick`; the others have groups of their own.
const PRESENTATION: Presentation = Presentation {
    layout: Layout::Plain,
    groups: &[
        Group { question: Question::Sequential, programs: &["read_8192", "write_4096", "write_8192", "rewrite_8192"] },
        Group { question: Question::SingleBlocks, programs: &["randread", "commit"] },
    ],
};

/// A run of `quick` on a real disk, as the documentation shows it.
fn quick() -> Document {
    serde_json::from_str(include_str!("../../../docs/quick.json")).expect("a document")
}

/// The run on these targets, with twice as many rounds.
fn on_targets(names: &[&str]) -> Document {
    let mut document = quick();
    let target = document.run.targets[0].clone();
    document.run.targets.clear();
    let cells = std::mem::take(&mut document.cells);
    for name in names {
        document.run.targets.push(stats::TargetInfo { name: (*name).to_owned(), ..target.clone() });
        for cell in &cells {
            let rounds = [&cell.rounds[..], &cell.rounds].concat();
            document.cells.push(Cell { target: (*name).to_owned(), rounds, ..cell.clone() });
        }
    }
    document
}

fn json(document: &Document, detail: Detail) -> String {
    let mut document = document.clone();
    let rounds = |document: &mut Document, change: fn(&mut Vec<stats::Round>)| {
        document.cells.iter_mut().for_each(|cell| change(&mut cell.rounds));
    };
    match detail {
        Detail::Whole => {}
        Detail::WithoutIntervals => {
            rounds(&mut document, |rounds| rounds.iter_mut().for_each(|round| round.intervals.clear()));
        }
        Detail::WithoutRounds | Detail::WithoutRates | Detail::Nothing => rounds(&mut document, Vec::clear),
    }
    serde_json::to_string(&document).expect("plain data")
}

fn page_of(documents: &[&Document]) -> String {
    let closures: Vec<_> = documents.iter().map(|document| |detail| json(document, detail)).collect();
    let runs: Vec<Run> = documents
        .iter()
        .zip(&closures)
        .map(|(document, json)| Run { name: "k3pv-261121", document, presentation: PRESENTATION, published: &[], json })
        .collect();
    page(&runs, &[], None)
}

/// Returns the text between the tags of the page. Panics if an element is not closed.
fn text_of(page: &str) -> String {
    const EMPTY: [&str; 4] = ["meta", "link", "br", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once('<') {
        text += before;
        assert!(!before.contains('>') || open.iter().any(|tag| ["script", "style"].contains(tag)), "{before}");
        // A tag ends at the first `>` outside the quotation marks of its attributes.
        let mut is_quoted = false;
        let end = after.find(|c| {
            is_quoted ^= c == '"';
            c == '>' && !is_quoted
        });
        let (tag, after) = after.split_at(end.expect("a tag ends"));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().expect("a name");
        rest = &after[1..];
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "before {}", &rest[..rest.len().min(60)]);
        } else if !EMPTY.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
        // The content of these elements is not HTML.
        if ["script", "style"].contains(&name) && !tag.starts_with('/') {
            let (inside, after) = rest.split_once(&format!("</{name}>")).expect("it ends");
            assert!(name == "style" || !inside.contains("<!--"), "a script that looks like a comment");
            open.pop();
            rest = after;
        }
    }
    assert!(open.is_empty(), "{open:?} does not end");
    text + rest
}

/// Returns the content of the script element with this id.
fn embedded<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("<script type=\"application/json\" id=\"{id}\">")).expect("the document");
    after.split_once("</script>").expect("it ends").0
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    let page = page_of(&[&quick()]);
    let text = text_of(&page);
    for words in ["quick on .", "1,500 MiB/s", "diskperf run quick .", "sequential I/O", "Notes"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // No addresses of other hosts, except the SVG namespace.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "//", "src=", "@import", "url("] {
        let comments = elsewhere.lines().filter(|line| !line.trim_start().starts_with("//"));
        assert!(comments.into_iter().all(|line| !line.contains(word)), "{word}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("<link rel=\"icon\" href=\"data:,\">"));
    assert!(!page.contains('\t'), "a terminal obeys tabs");
}

#[test]
fn the_embedded_document_is_read_back_unchanged() {
    let document = quick();
    let page = page_of(&[&document]);
    let again: Document = serde_json::from_str(embedded(&page, "document")).expect("a document");
    assert_eq!(again, document);
    let both = page_of(&[&document, &document]);
    text_of(&both);
    assert_eq!(embedded(&both, "document-2").len(), embedded(&both, "document").len());
    assert!(both.contains("href=\"#r2\"") && both.contains("id=\"r2\""));
}

#[test]
fn a_page_of_three_targets_is_small_and_names_omissions() {
    let mut document = on_targets(&["ext4", "xfs", "btrfs"]);
    let page = page_of(&[&document]);
    assert!(page.len() <= LARGEST, "{} bytes", page.len());
    let again: Document = serde_json::from_str(embedded(&page, "document")).expect("a document");
    assert_eq!(again.cells.len(), document.cells.len());
    let left_out = again != document;
    assert_eq!(page.contains("To keep the page small, this document lacks"), left_out);
    // Any number of intervals leaves the size of the page within the limit.
    for cell in &mut document.cells {
        for round in &mut cell.rounds {
            round.intervals = vec![stats::RateInterval { ops: 1, bytes: 4096, ..stats::RateInterval::default() }; 400];
        }
    }
    let page = page_of(&[&document]);
    assert!(page.len() <= LARGEST, "{} bytes", page.len());
    assert!(page.contains("diskperf show k3pv-261121 --format json"), "who has all of it");
}

/// The choice between two ways to read ahead, as the documentation shows it.
fn tuned() -> Document {
    serde_json::from_str(include_str!("../../../docs/tuned.json")).expect("a document")
}

/// Returns the part of the page between two texts, the second after the first.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, after) = page.split_once(from).unwrap_or_else(|| panic!("{from} is not there"));
    after.split_once(to).unwrap_or_else(|| panic!("{to} does not follow {from}")).0
}

#[test]
fn a_run_begins_with_six_cards_of_common_figures() {
    let document = quick();
    let page = page_of(&[&document]);
    let cards = between(&page, "<ul class=\"cards\">", "</ul>");
    assert_eq!(cards.matches("<li>").count(), 6);
    let titles = ["Sequential read", "Sequential write", "queue depth 1<", "queue depth 32", "Commit", "Small files"];
    for words in [&titles[..], &["p99 1.19 ms", "± 15 %", "bottleneck <b>device</b>"]].concat() {
        assert!(cards.contains(words), "{words}: {cards}");
    }
    assert!(between(&page, "</ul>", "id=\"r1-figures\"").len() < page.len(), "the table follows");
}

#[test]
fn a_choice_begins_with_a_sentence_and_a_row_for_each_test() {
    let document = tuned();
    let page = page_of(&[&document]);
    let lead = between(&page, "<p class=\"lead\">", "</p>");
    assert!(
        lead.contains(">usual</b> is faster in 1 of 6 tests") && lead.contains("5 tests are not decided"),
        "{lead}"
    );
    let matrix = between(&page, "<table class=\"matrix\">", "</table>");
    // A drawing for each test, and one for the axis.
    assert_eq!(matrix.matches("<svg class=\"chart strip\"").count(), 1 + 6);
    assert_eq!(matrix.matches("class=\"n best\"").count(), 1, "one alternative is proven faster in one test");
    assert!(!matrix.contains("Requirements") && !page.contains("class=\"cards\""));
}

#[test]
fn the_lead_states_only_what_the_comparisons_show() {
    let lead = |change: fn(&mut stats::Comparison)| {
        let mut document = tuned();
        let choice = document.run.choice.as_mut().expect("a choice");
        choice.comparisons.iter_mut().for_each(change);
        between(&page_of(&[&document]), "<p class=\"lead\">", "</p>").to_owned()
    };
    let open = lead(|pair| (pair.verdict, pair.faster) = (stats::TargetVerdict::Undecided, None));
    assert!(open.contains("No alternative is proven faster") && !open.contains("is faster in"), "{open}");
    let same = lead(|pair| (pair.verdict, pair.faster) = (stats::TargetVerdict::Same, None));
    assert!(same.contains("In 6 tests they are within 5 %") && !same.contains("not decided"), "{same}");
    let mut document = tuned();
    document.run.choice.as_mut().expect("a choice").comparisons.clear();
    let none = between(&page_of(&[&document]), "<p class=\"lead\">", "</p>").to_owned();
    assert!(none.contains("No test was measured"), "{none}");
}

#[test]
fn requirements_pass_fail_or_are_unknown_and_prices_are_shown() {
    let mut document = tuned();
    let choice = document.run.choice.as_mut().expect("a choice");
    for (target, met) in [("usual", Some(true)), ("ahead", None)] {
        choice.needs.push(stats::Need {
            condition: "read>=9MiB/s".to_owned(),
            target: target.to_owned(),
            measured: Some("12 MiB/s".to_owned()),
            met,
        });
    }
    let price =
        stats::compare::target_comparison::Price { target: "ahead".to_owned(), amount: 0.5, per: "GiB".to_owned() };
    choice.prices.push(price);
    // Older documents have prices only in the command line, which is not parsed for them.
    document.run.command.extend(["--price", "usual=7/GiB"].map(str::to_owned));
    let page = page_of(&[&document]);
    let matrix = between(&page, "<table class=\"matrix\">", "</table>");
    for words in ["✓ pass", "? not known", "12 MiB/s", "0.5/GiB", "not given"] {
        assert!(matrix.contains(words), "{words}: {matrix}");
    }
    assert!(!matrix.contains("✗ fail") && !matrix.contains("7/GiB"), "{matrix}");
    assert!(between(&page, "<p class=\"lead\">", "</p>").contains(">usual</b> meets all requirements"));
}

#[test]
fn long_names_are_abbreviated_and_complete_in_the_key() {
    const LONG: &str = "/mnt/a-name-that-no-column-has-room-for";
    let mut document = tuned();
    let text = serde_json::to_string(&document).expect("plain data").replace("\"ahead\"", &format!("\"{LONG}\""));
    document = serde_json::from_str(&text).expect("a document");
    let page = page_of(&[&document]);
    let key = between(&page, "<ul class=\"where\">", "</ul>");
    assert!(key.contains(LONG) && key.contains(">A<") && key.contains(">B<"), "{key}");
    let matrix = between(&page, "<table class=\"matrix\">", "</table>");
    assert!(matrix.contains("<b>B</b>") && !matrix.contains(LONG), "{matrix}");
    assert!(page.contains("data-series=\"B\"") && !page.contains(&format!("data-series=\"{LONG}\"")));
    assert_eq!(text, serde_json::to_string(&document).expect("plain data"), "the document keeps the name");
}

#[test]
fn only_runs_of_one_preset_share_a_chart() {
    let (first, mut second) = (quick(), quick());
    second.run.started_unix_s += 1.0;
    let chart = |second: &Document| {
        let page = page_of(&[&first, second]);
        page.contains("Rate of each run divided by that of the first")
    };
    assert!(chart(&second));
    second.cells.iter_mut().for_each(|cell| cell.preset = "other".to_owned());
    assert!(!chart(&second));
}

#[test]
fn every_mark_has_a_footnote_from_the_glossary() {
    let mut document = quick();
    for (cell, code) in document.cells.iter_mut().zip([
        MarkCode::Cache,
        MarkCode::Dirty,
        MarkCode::Noflush,
        MarkCode::Nested,
        MarkCode::Env,
    ]) {
        cell.marks.push(Mark { code, value: Some(0.5), text: format!("the reason of {}", code.name()) });
    }
    let page = page_of(&[&document]);
    let text = text_of(&page);
    let codes: BTreeSet<&str> =
        document.cells.iter().flat_map(|cell| &cell.marks).map(|mark| mark.code.name()).collect();
    assert_eq!(codes.len(), 6, "{codes:?}");
    for code in codes {
        assert!(page.contains(&format!("href=\"#r1-{code}\"")), "nothing leads to {code}");
        assert_eq!(page.matches(&format!("id=\"r1-{code}\"")).count(), 1, "{code}");
        let says = Topic::Mark.entry(code).expect("it is explained").says;
        assert!(text.contains(&says.replace('&', "&amp;")), "{says}");
    }
}

#[test]
fn names_are_escaped_in_the_page() {
    const NAME: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=y>&lt;\u{1b}[2J\n<!--";
    let mut document = quick();
    document.run.host = NAME.to_owned();
    document.run.kernel = NAME.to_owned();
    document.run.preset = Some(NAME.to_owned());
    document.run.findings = vec![NAME.to_owned()];
    document.run.command.push(NAME.to_owned());
    document.run.targets[0].name = NAME.to_owned();
    document.run.targets[0].argument = NAME.to_owned();
    for cell in &mut document.cells {
        cell.target = NAME.to_owned();
        cell.program = NAME.to_owned();
        cell.reason = Some(NAME.to_owned());
        cell.marks.push(Mark { code: MarkCode::Env, value: None, text: NAME.to_owned() });
    }
    let mut shown = document.clone();
    let escaped = sanitize::line(NAME).into_owned();
    let text = serde_json::to_string(&shown).expect("plain data");
    let quoted = |name: &str| serde_json::to_string(name).expect("a string");
    shown = serde_json::from_str(&text.replace(&quoted(NAME), &quoted(&escaped))).expect("a document");
    let page = {
        let json = |detail| json(&document, detail);
        page(
            &[Run { name: "a\"<b>'", document: &shown, presentation: PRESENTATION, published: &[], json: &json }],
            &[],
            None,
        )
    };
    let text = text_of(&page);
    for forbidden in ["<img", "alert(1)</script>", "<b>'", "\u{1b}"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(text.contains("&lt;img src=x onerror=y&gt;&amp;lt;\\u{1b}[2J"), "{text}");
    let again: Document = serde_json::from_str(embedded(&page, "document")).expect("a document");
    assert_eq!(again.run.host, NAME, "other programs get it as it is");
}

/// The tables of 1983: under each printed figure are the simulated one and its error.
#[test]
fn published_figures_are_next_to_simulated_ones() {
    let cell = |test: &str, drives: u32, published: Published| Comparison {
        table: "T2".to_owned(),
        file_system: "8K/1K".to_owned(),
        configuration: "UDA50/RA81".to_owned(),
        drives,
        test: test.to_owned(),
        published,
        simulated: Simulated { kbytes_per_sec: 363.4, cpu_percent: 44.6 },
        error_percent: published.kbytes_per_sec.filter(|_| !published.suspect).map(|_| -12.4),
        cpu_percent_judged: None,
        limited_by: "rotation".to_owned(),
        judges: false,
        twins: Vec::new(),
    };
    let printed = |kbytes_per_sec, cpu_percent, suspect| Published {
        kbytes_per_sec,
        cpu_percent,
        suspect,
        measured: kbytes_per_sec.is_some(),
    };
    let cells = vec![
        cell("read_8192", 1, printed(Some(360), Some(45), false)),
        cell("read_8192", 2, printed(Some(220), Some(58), true)),
        cell("write_8192", 1, printed(None, None, false)),
        cell("write_8192", 2, printed(Some(480), None, false)),
    ];
    let paper = PaperDocument {
        schema: PAPER_SCHEMA.to_owned(),
        cells,
        summary: None,
        drives: Vec::new(),
        questions: Vec::new(),
        claims: Vec::new(),
        assumptions: None,
        vaxmix: None,
        lfs: None,
    };
    let text = text_of(&page(&[], &[], Some(&paper)));
    for words in ["T2, 8K/1K", "UDA50/RA812 drives", "360 (45%)363 (45%)-12 % rotation", "220 (58%)*363 (45%)healthy,"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.contains("n.m.363 (45%)predicted,") && text.contains("480363 (45%)"), "{text}");
}

#[test]
fn pages_of_very_many_results_name_omissions() {
    let mut document = quick();
    let cell = document.cells[0].clone();
    let cells = |count: u64| -> Vec<Cell> {
        let sized = |size| {
            let mut cell = cell.clone();
            cell.parameters.insert("size".to_owned(), stats::ParameterValue::Number(size));
            cell
        };
        (0..count).map(sized).collect()
    };
    document.cells = cells(1000);
    let page = page_of(&[&document]);
    assert!(page.contains("Raw figures") && !page.contains("the raw figures of"));
    document.cells = cells(1001);
    let text = text_of(&page_of(&[&document]));
    assert!(text.contains("To keep the page small, the raw figures of 1,001 results are left out."), "{text}");
    assert!(text.contains("diskperf show k3pv-261121 --format csv"), "{text}");
    // Every result has its row in the table of figures.
    assert!(text.contains("read_8192, size 0") && text.contains("read_8192, size 1000"), "{text}");
}

#[test]
fn programs_that_share_a_warning_are_named_up_to_a_number() {
    let mut document = quick();
    let mark = Mark { code: MarkCode::Noise, text: "others were at work".to_owned(), value: None };
    let marked = |number: u32| {
        let (program, marks) = (format!("job{number}"), vec![mark.clone()]);
        Cell { program, marks, ..document.cells[0].clone() }
    };
    document.cells = (0..40).map(marked).collect();
    let text = report::table(&document, PRESENTATION, report::Page::ENDLESS);
    assert!(text.contains("job31 and 8 more)") && !text.contains("job32,"), "{text}");
}
