//! `diskperf report [RUN|FILE]... -o report.html`: runs, histories and verifications as a page for a browser, as
//! Markdown for a pull request, and their charts as files.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use classic1983::published_beside;
use kernel::sys::name::Shown;
use report::Presentation;
use report::chart::{self, Chart, Subject};
use report::html::{self, Detail, Found};
use report::sanitize::line;
use serde::Serialize;
use stats::compare::history::History;
use stats::compare::replication::{Comparison, PaperDocument};
use stats::{Document, Verification};
use store::LAST;
use units::{Bytes, Exit};

use crate::commands::paper;
use crate::documents::document::{self, Both, Readable};
use crate::documents::document_error::DocumentFault;
use crate::documents::store_arguments::StoreArguments;
use crate::documents::user_files;
use crate::error::{Error, OutputError};
use crate::ui::output;
use crate::ui::output_format::dense;

#[derive(Clone, Debug, Args)]
pub struct ReportArguments {
    /// Stored runs (their ids, the beginnings of ids, or last), or result files (of `diskperf run ... --json -o FILE`;
    /// also of `history` and `verify`); - means standard input [default: last]
    #[arg(value_name = "RUN|FILE")]
    runs: Vec<PathBuf>,
    /// Add the tables of Kridle & McKusick 1983, with the simulated figures below the printed ones.
    #[arg(long)]
    paper: bool,
    /// Format of the report.
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    /// Write the page to FILE, or replace FILE [default: standard output, or -].
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write each chart to FOLDER, as an SVG file.
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// HTML page with charts and tables, which needs no network
    #[default]
    Html,
    /// Comment for a pull request: the verdict, a table, the rest folded
    Markdown,
}

/// A run: its name, its document, and a copy of the document for display.
struct Reported {
    name: String,
    document: Document,
    /// The document with its control characters escaped; `None` if it has none.
    plain: Option<Document>,
}

impl Reported {
    fn new(typed: &Path, document: Document) -> Reported {
        let plain = match document::plain(&document) {
            Cow::Borrowed(_) => None,
            Cow::Owned(plain) => Some(plain),
        };
        Reported { name: name(typed, &document), plain, document }
    }

    fn shown(&self) -> &Document {
        self.plain.as_ref().unwrap_or(&self.document)
    }

    fn presentation(&self) -> Presentation {
        document::presentation(&self.document)
    }

    fn on_page<'a>(&'a self, published: &'a [Comparison], json: &'a dyn Fn(Detail) -> String) -> html::Run<'a> {
        html::Run { name: &self.name, document: self.shown(), presentation: self.presentation(), published, json }
    }
}

/// A result file that is not a run.
struct Other {
    name: String,
    found: OtherFound,
    json: String,
}

/// The data of such a file, with control characters escaped for display.
enum OtherFound {
    History(History),
    Verification(Box<Verification>),
}

impl Other {
    fn new<T: Serialize>(typed: &Path, both: Both<T>, found: impl Fn(T) -> OtherFound) -> Other {
        let json = dense(&both.original);
        Other { name: line(&display_name(typed)).into_owned(), found: found(both.plain), json }
    }

    fn markdown(&self) -> String {
        match &self.found {
            OtherFound::History(history) => report::compare::history::markdown(history),
            OtherFound::Verification(verification) => report::verification::markdown(verification),
        }
    }

    fn charts(&self) -> Vec<Chart> {
        match &self.found {
            OtherFound::History(history) => chart::history(history),
            OtherFound::Verification(_) => Vec::new(),
        }
    }

    fn on_page(&self) -> html::Other<'_> {
        let found = match &self.found {
            OtherFound::History(history) => Found::History(history),
            OtherFound::Verification(verification) => Found::Verification(verification),
        };
        html::Other { name: &self.name, found, json: &self.json }
    }
}

/// The input of a report.
struct Inputs {
    runs: Vec<Reported>,
    others: Vec<Other>,
    paper: Option<PaperDocument>,
}

impl Inputs {
    fn read(named: &[PathBuf], arguments: &ReportArguments) -> Result<Inputs, Error> {
        let (mut runs, mut others) = (Vec::new(), Vec::new());
        for typed in named {
            match document::readable(typed, &arguments.store)? {
                Readable::Runs(all) => runs.extend(all.into_iter().map(|document| Reported::new(typed, document))),
                Readable::History(both) => others.push(Other::new(typed, both, OtherFound::History)),
                Readable::Verification(both) => {
                    others.push(Other::new(typed, *both, |plain| OtherFound::Verification(Box::new(plain))));
                }
            }
        }
        let is_drawn = arguments.svg.is_some() || arguments.format == ReportFormat::Html;
        let paper = (arguments.paper && is_drawn).then(paper::all_tables).transpose()?;
        Ok(Inputs { runs, others, paper })
    }

    fn markdown(&self, has_paper: bool) -> Result<String, Error> {
        let text = |run: &Reported| report::markdown(&run.name, run.shown(), run.presentation());
        let mut texts: Vec<String> = self.runs.iter().map(text).collect();
        texts.extend(self.others.iter().map(Other::markdown));
        if has_paper {
            texts.push(format!("```text\n{}```\n", paper::all_text()?));
        }
        Ok(texts.join("\n"))
    }
}

pub fn run(arguments: &ReportArguments) -> Result<Exit, Error> {
    output::check(arguments.file.as_deref())?;
    // With --svg alone, only the charts are written. With `--format markdown`, the text is written, too.
    let is_page = arguments.file.is_some() || arguments.svg.is_none() || arguments.format == ReportFormat::Markdown;
    let is_printed = output::is_printed(arguments.file.as_deref());
    if is_page && is_printed && arguments.format == ReportFormat::Html && output::page().columns.is_some() {
        return Err(OutputError::PageOnTerminal.into());
    }
    let latest = [PathBuf::from(LAST)];
    let named = if arguments.runs.is_empty() && !arguments.paper { &latest[..] } else { &arguments.runs };
    let inputs = Inputs::read(named, arguments)?;
    if let Some(folder) = &arguments.svg {
        draw(&inputs, folder)?;
    }
    if is_page {
        let text = match arguments.format {
            ReportFormat::Html => page(&inputs),
            ReportFormat::Markdown => inputs.markdown(arguments.paper)?,
        };
        output::deliver(&text, arguments.file.as_deref())?;
        if arguments.format == ReportFormat::Html && text.len() > html::LARGEST {
            let (bytes, most) = (Bytes(text.len() as u64), Bytes(html::LARGEST as u64));
            output::remark(&format!("the page is {bytes}; many mail servers refuse more than {most}"));
        }
        if let Some(path) = arguments.file.as_ref().filter(|_| !is_printed) {
            output::remark(&format!("wrote {}", path.shown()));
        }
    }
    Ok(Exit::Done)
}

/// The id of a stored run, otherwise the path as typed.
fn name(typed: &Path, document: &Document) -> String {
    let typed = display_name(typed);
    line(document.run.store.as_ref().map_or(&typed, |stored| &stored.run)).into_owned()
}

fn display_name(typed: &Path) -> String {
    if typed == Path::new("-") { "standard input".to_owned() } else { typed.shown().into_owned() }
}

fn page(inputs: &Inputs) -> String {
    let Inputs { runs, others, paper } = inputs;
    let published: Vec<_> = runs.iter().map(|run| published_beside(run.shown())).collect();
    let json: Vec<_> = runs.iter().map(|run| |detail| embedded(&run.document, detail)).collect();
    let runs: Vec<html::Run> =
        runs.iter().zip(&published).zip(&json).map(|((run, published), json)| run.on_page(published, json)).collect();
    let others: Vec<html::Other> = others.iter().map(Other::on_page).collect();
    html::page(&runs, &others, paper.as_ref())
}

/// The page of one run.
#[cfg(test)]
pub fn page_of(document: &Document, shown: &Document) -> String {
    let run = Reported { name: "run".to_owned(), document: document.clone(), plain: Some(shown.clone()) };
    page(&Inputs { runs: vec![run], others: Vec::new(), paper: None })
}

/// The document as JSON for other programs, in this detail.
fn embedded(document: &Document, detail: Detail) -> String {
    let mut document = Cow::Borrowed(document);
    if detail != Detail::Whole {
        for cell in &mut document.to_mut().cells {
            match detail {
                Detail::WithoutIntervals => cell.rounds.iter_mut().for_each(|round| round.intervals.clear()),
                _ => cell.rounds.clear(),
            }
        }
    }
    dense(&document)
}

/// The part of a chart's file name that tells its subject.
const fn word(subject: Subject) -> &'static str {
    match subject {
        Subject::Rates => "rates",
        Subject::Hosts => "hosts",
        Subject::Choice => "choice",
        Subject::OverTime => "over-time",
        Subject::Latency => "latency",
        Subject::Together => "together",
        Subject::Time => "time",
        Subject::Sweep => "sweep",
        Subject::Setting => "setting",
        Subject::Paper => "paper",
    }
}

/// The beginning of every chart file.
const BEGINNING: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart";

/// Writes all charts into the folder, and creates it if it is missing. All paths are checked before the first is
/// written. Only charts of diskperf are overwritten.
fn draw(inputs: &Inputs, folder: &Path) -> Result<(), Error> {
    // Without a slash at the end of its name: the folder may not exist yet.
    let folder = &folder.components().collect::<PathBuf>();
    let is_there = match user_files::creatable(folder)? {
        Some(metadata) if !metadata.is_dir() => {
            return Err(DocumentFault::NoFolder(folder.shown().to_string()).into());
        }
        known => known.is_some(),
    };
    let of_run = |run: &Reported| {
        let charts = chart::charts(run.shown(), run.presentation().layout);
        [charts, chart::paper(&published_beside(run.shown()))].concat()
    };
    let mut sets: Vec<Vec<Chart>> = inputs.runs.iter().map(of_run).collect();
    sets.extend(inputs.others.iter().map(Other::charts));
    sets.extend(inputs.paper.as_ref().map(|paper| chart::paper(&paper.cells)));
    let is_one = sets.len() == 1;
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for (number, charts) in sets.into_iter().enumerate() {
        let before = if is_one { String::new() } else { format!("{}-", number + 1) };
        let mut subjects: Vec<Subject> = Vec::new();
        for chart in charts {
            subjects.push(chart.subject);
            let count = subjects.iter().filter(|subject| **subject == chart.subject).count();
            let path = folder.join(format!("{before}{}-{count}.svg", word(chart.subject)));
            files.push((path, chart::standalone(&chart)));
        }
    }
    if files.is_empty() {
        output::remark("no charts were written: the run has no results to draw");
        return Ok(());
    }
    if is_there {
        for (path, _) in &files {
            may_be_drawn(path)?;
        }
    } else {
        fs::create_dir(folder).map_err(|source| OutputError::Failed { to: folder.shown().to_string(), source })?;
    }
    for (path, drawing) in &files {
        output::deliver_as(path, drawing)?;
        output::remark(&format!("wrote {}", path.shown()));
    }
    Ok(())
}

/// Refuses a file that is not a chart of diskperf. A link to a chart is refused too: the chart would be written
/// elsewhere.
fn may_be_drawn(path: &Path) -> Result<(), Error> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return output::check_name(path) };
    if !metadata.is_symlink() {
        output::check_name(path)?;
    }
    let mut beginning = [0; BEGINNING.len()];
    // A shorter file is not a chart, and a file that cannot be read is not known to be one.
    let is_read = metadata.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok();
    if is_read && beginning == *BEGINNING.as_bytes() {
        return Ok(());
    }
    Err(DocumentFault::NotAChart(path.shown().to_string()).into())
}
