//! The tables of the paper as they were last simulated: `golden/`, written by `cargo xtask golden`. A change of a
//! figure changes these files, so that it is seen.

use std::fs;
use std::path::Path;

use crate::common::Cli;

#[test]
fn tables_match_the_golden_files() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let ended = Cli::in_folder("/").well(&["paper", "T1", "T2", "T3", "T4", "T5", "vaxmix"]);
    let mut rest = ended.out.as_str();
    for table in ["T1", "T2", "T3", "T4", "T5", "vaxmix"] {
        let path = golden.join(table).with_extension("txt");
        let kept = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        rest = rest.trim_start_matches('\n').strip_prefix(kept.trim_end_matches('\n')).unwrap_or_else(|| {
            panic!("{table} is not as kept; `cargo xtask golden` writes it anew. Simulated now:\n{rest}")
        });
    }
    // The rest is the summary: the errors that are stored with the tables.
    let errors = fs::read_to_string(golden.join("errors.txt")).expect("the errors that are kept");
    for (name, unit) in [("rate", "%"), ("cpu", "points")] {
        for what in ["median", "mean", "largest"] {
            let kept = errors.lines().find_map(|line| line.strip_prefix(&format!("{name}-{what} ")));
            let kept: f64 = kept.and_then(|text| text.parse().ok()).expect("every error is kept");
            assert!(rest.contains(&format!("{what} {kept:.1} {unit}")), "{name} {what} {kept}: {rest}");
        }
    }
}
