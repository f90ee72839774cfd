//! Makes 21 bottlenecks on purpose, and records what the built program reports for each: a line of JSON for every
//! bottleneck, and one for all. Needs root, control groups of version 1, and a quiet machine. It changes the dirty
//! limit of the whole machine for a few seconds.
//!
//! ```text
//!   cargo bench --package diskperf --bench bottlenecks [-- NAME]
//! ```

#[path = "../tests/made/mod.rs"]
mod made;

use made::{ALL, OWNERS, Said};
use serde_json::json;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let program = testkit::program(env!("CARGO_BIN_EXE_diskperf"));
    let mut all = Vec::new();
    for made in
        ALL.iter().chain(&OWNERS).filter(|made| words.is_empty() || words.iter().any(|word| made.name.contains(word)))
    {
        let cell = (made.cell)(&program).unwrap_or_else(|reason| panic!("{} cannot be made: {reason}", made.name));
        let limit = &cell["limited_by"];
        println!(
            "{}",
            json!({"bottleneck": made.name, "right": made.right, "limited_by": limit, "time": cell["time"]})
        );
        all.push(made.judge(&cell));
    }
    let count = |said: Said| all.iter().filter(|one| **one == said).count();
    println!("{}", json!({"bottlenecks": all.len(), "named": count(Said::Right), "wrong": count(Said::Wrong)}));
}
