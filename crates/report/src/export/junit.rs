//! A comparison of two runs as JUnit XML, which CI systems show as tests: a test case for each cell of both runs, and
//! one for each condition of `--fail-if`.

use stats::Verdict;
use stats::compare::run_comparison::{Compared, ComparedCell, Guarded};

use crate::compare::run_comparison::{ratio, unguarded};
use crate::rate_format;
use crate::sanitize;

/// Returns the report. Only conditions fail: without `--fail-if`, all test cases pass or are skipped.
pub fn report(compared: &Compared) -> String {
    let failures = compared.fail_if.iter().filter(|guarded| guarded.failed).count();
    let skipped = compared.cells.iter().filter(|cell| skip(cell).is_some()).count();
    let tests = compared.cells.len() + compared.fail_if.len();
    let name = format!("{} against {}", compared.now.name, compared.then.name);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &format!(
        "<testsuites>\n  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
         skipped=\"{skipped}\">\n",
        escaped(&name)
    );
    text += &compared.cells.iter().map(cell).collect::<String>();
    text += &compared.fail_if.iter().map(condition).collect::<String>();
    text + "  </testsuite>\n</testsuites>\n"
}

fn cell(cell: &ComparedCell) -> String {
    let (class, name) = (escaped(&format!("{}.{}", cell.preset, cell.target)), escaped(&cell.name));
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\"");
    if let Some(reason) = skip(cell) {
        return format!("{head}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", escaped(&reason));
    }
    let rate = |rate: &Option<stats::Rate>| rate.as_ref().map_or("n.m.".to_owned(), rate_format::beside_ratio);
    let said = format!("{}: {}, before {}, {}", cell.finding.name(), rate(&cell.now), rate(&cell.then), ratio(cell));
    format!("{head}>\n      <system-out>{}</system-out>\n    </testcase>\n", escaped(&said))
}

/// The reason why nothing can be said about a cell.
fn skip(cell: &ComparedCell) -> Option<String> {
    match cell.finding {
        Verdict::NotMeasured => {
            let reason = cell.reason_now.as_ref().or(cell.reason_then.as_ref());
            Some(format!("not measured: {}", reason.map_or("no reason is known", String::as_str)))
        }
        Verdict::Undecided => {
            Some(format!("undecided{}", cell.why.as_ref().map_or(String::new(), |why| format!(": {why}"))))
        }
        _ => None,
    }
}

fn condition(guarded: &Guarded) -> String {
    let head = format!("    <testcase classname=\"fail-if\" name=\"{}\"", escaped(&guarded.condition));
    if !guarded.failed {
        return head + "/>\n";
    }
    let mut reasons = Vec::new();
    for (what, cells) in [("slower", &guarded.slower), ("missing", &guarded.missing), ("undecided", &guarded.undecided)]
    {
        if !cells.is_empty() {
            reasons.push(format!("{what}: {}", cells.join("; ")));
        }
    }
    reasons
        .extend(unguarded(guarded).into_iter().map(|(why, cells)| format!("not checked, {why}: {}", cells.join("; "))));
    let said = escaped(&reasons.join("\n"));
    format!("{head}>\n      <failure message=\"{}\">{said}</failure>\n    </testcase>\n", escaped(&guarded.condition))
}

/// The text for an element or an attribute.
fn escaped(text: &str) -> String {
    text.split('\n').map(sanitize::xml).collect::<Vec<String>>().join("\n")
}
