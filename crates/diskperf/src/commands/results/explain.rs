//! `diskperf explain [RUN|FILE] [TEST]...`: where each millisecond of a run went, and what limited it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kernel::sys::name::Shown;
use report::explain;
use report::sanitize::line;
use stats::{Cell, Document};
use store::LAST;
use units::Exit;

use crate::documents::document;
use crate::documents::document_error::DocumentFault;
use crate::documents::store_arguments::StoreArguments;
use crate::error::Error;
use crate::simulation::faster_resources;
use crate::ui::output_format::{Layout, OutputArguments, json};
use crate::ui::progress_display::Display;

#[derive(Clone, Debug, Args)]
pub struct ExplainArguments {
    /// Stored run (its id, the beginning of an id, its name, or last), or result file (of `diskperf run ... --json -o
    /// FILE`); - means standard input [default: last]
    #[arg(value_name = "RUN|FILE", default_value = LAST, hide_default_value = true)]
    run: PathBuf,
    /// Tests (smallfb), phases (smallfb.read) or targets to show [default: all]
    #[arg(value_name = "TEST")]
    words: Vec<String>,
    #[command(flatten)]
    output: OutputArguments<Explanation>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Formats of an explanation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Explanation {
    /// Table with a bar for each part of the time
    #[default]
    Table,
    /// JSON of the run with the chosen results
    Json,
    /// A row per result, a column per part, in percent
    Markdown,
    /// A row per result and part, in nanoseconds
    Csv,
}

impl Layout for Explanation {
    const JSON: Explanation = Explanation::Json;
}

pub fn run(arguments: &ExplainArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let mut document = document::named(&arguments.run, &arguments.store)?;
    let name = if arguments.run == Path::new("-") { "the document".into() } else { arguments.run.shown() };
    document.cells.retain(explain::can_be_explained);
    let layout = arguments.output.layout();
    let mut words = arguments.words.clone();
    if layout != Explanation::Json {
        document = document::plain(&document).into_owned();
        words.iter_mut().for_each(|word| *word = line(word).into_owned());
    }
    let mut chosen: Vec<Cell> = choose(&document, &words, &name)?.into_iter().cloned().collect();
    // Markdown and CSV have no place for the speed-ups.
    let is_told = matches!(layout, Explanation::Table | Explanation::Json);
    let mut display = Display::new();
    if is_told && !faster_resources::speed_up(&document.run, &mut chosen, &mut |event| display.show(&event))? {
        return Ok(Exit::Interrupted);
    }
    let chosen: Vec<&Cell> = chosen.iter().collect();
    let text = match layout {
        Explanation::Table => {
            explain::table(&document, document::presentation(&document), &chosen, arguments.output.page())
        }
        Explanation::Markdown => explain::markdown(&document, &chosen),
        Explanation::Csv => explain::csv(&chosen),
        Explanation::Json => {
            let cells = chosen.into_iter().cloned().collect();
            json(&Document { cells, ..document })
        }
    };
    arguments.output.deliver(&text)?;
    Ok(Exit::Done)
}

/// The cells that these words choose: the named programs and phases, on the named targets. Without a word for one of
/// these, all are chosen. A word that names nothing is an error, and so is an empty choice.
fn choose<'a>(document: &'a Document, words: &[String], name: &str) -> Result<Vec<&'a Cell>, DocumentFault> {
    let cells = &document.cells;
    if cells.is_empty() {
        let why = document.errors.first().map_or("the run measured nothing", |problem| &problem.message);
        return Err(DocumentFault::NoCells { name: name.to_owned(), why: why.to_owned() });
    }
    let fault = |words: &str, near| {
        let (name, words) = (name.to_owned(), words.to_owned());
        DocumentFault::NoSuchCell { name, words, near }
    };
    let mut programs = Vec::new();
    let mut targets = Vec::new();
    for word in words {
        if cells.iter().any(|cell| is_of(cell, word)) {
            programs.push(word);
        } else if cells.iter().any(|cell| cell.target == *word) {
            targets.push(word);
        } else {
            return Err(fault(word, near(cells, word)));
        }
    }
    let fits = |cell: &&Cell| {
        (programs.is_empty() || programs.iter().any(|word| is_of(cell, word)))
            && (targets.is_empty() || targets.iter().any(|word| cell.target == **word))
    };
    let chosen: Vec<&Cell> = cells.iter().filter(fits).collect();
    if chosen.is_empty() {
        // Each word alone names something, so list the pairs that exist.
        let there = cells.iter().filter(|cell| programs.iter().any(|word| is_of(cell, word)));
        let pairs: BTreeSet<String> = there.map(|cell| format!("{} on {}", long_name(cell), cell.target)).collect();
        return Err(fault(&words.join(" "), pairs.into_iter().take(SHOWN).collect()));
    }
    Ok(chosen)
}

/// The most names in a hint.
const SHOWN: usize = 8;

/// Names that are less alike than this are not suggested. The threshold is that of clap, whose hints appear next to
/// these.
const ALIKE: f64 = 0.7;

fn is_of(cell: &Cell, word: &str) -> bool {
    cell.program == word || long_name(cell) == word
}

/// The name of a cell, as in `smallfb.read`.
fn long_name(cell: &Cell) -> String {
    format!("{}.{}", cell.program, cell.phase)
}

/// Suggestions for a wrong word: the most similar names, otherwise all programs and targets.
fn near(cells: &[Cell], word: &str) -> Vec<String> {
    let names = |names: fn(&Cell) -> Vec<String>| cells.iter().flat_map(names).collect::<BTreeSet<String>>();
    let all = names(|cell| vec![cell.program.clone(), long_name(cell), cell.target.clone()]);
    let mut alike: Vec<(f64, String)> = all.into_iter().map(|name| (strsim::jaro_winkler(&name, word), name)).collect();
    alike.retain(|(likeness, _)| *likeness >= ALIKE);
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    let near: Vec<String> = alike.into_iter().map(|(_, name)| name).take(SHOWN).collect();
    if near.is_empty() {
        names(|cell| vec![cell.program.clone(), cell.target.clone()]).into_iter().take(SHOWN).collect()
    } else {
        near
    }
}
