//! `diskperf paper`: the tables of 1983 with the simulated ones, the questions, the claims.

use std::num::NonZeroU32;

use clap::Args;
use classic1983::published::{DRIVES, DriveTable, FOOTNOTE, RATES};
use classic1983::{
    Answer, Claim, PHASES, QUESTIONS, Question, Verdict, approaches, assumptions, claims, claims_with_certainty,
    comparisons, constants, held_out,
};
use machines::MachineFault;
use report::Page;
use report::compare::replication;
use report::wrap::wrapped;
use stats::compare::replication::{
    Asked, Characteristic, Comparison, Dependence, Drive, Judged, PAPER_SCHEMA, PaperDocument, Summary, summary,
};
use units::Exit;

use crate::cli::values::parse_phases;
use crate::error::{ArgumentError, Error};
use crate::ui::output_format::{self, Format, OutputArguments};

#[derive(Clone, Debug, Args)]
pub struct PaperArguments {
    /// Parts to print: T1 to T5, D1, D2, questions, Q1 to Q8, claims, assumptions, vaxmix, lfs [default: all
    /// tables]
    #[arg(value_name = "PART")]
    parts: Vec<String>,
    /// Simulate N rotational positions of the platters for vaxmix and print the mean [default: 10]. The tables,
    /// questions and claims always use 10, with which they were fitted.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_phases)]
    phases: Option<NonZeroU32>,
    /// Judge the claims again with each fitted constant 10 % off and with each guess and setting changed, and print the
    /// changes that give another verdict. Takes a minute
    #[arg(long)]
    certainty: bool,
    #[command(flatten)]
    output: OutputArguments,
}

/// The fewest positions from which an interval can be computed.
const LEAST_PHASES: u32 = 2;

/// A part of the paper that can be printed.
#[derive(Clone, Copy, Debug)]
enum Part {
    Rates(usize),
    Drive(&'static DriveTable),
    Question(&'static Question),
    /// With or without their certainty.
    Claims(bool),
    Assumptions,
    Vaxmix,
    Lfs,
}

pub fn run(arguments: &PaperArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let parts = parts(&arguments.parts, arguments.certainty)?;
    if arguments.certainty && !parts.iter().any(|part| matches!(part, Part::Claims(_))) {
        return Err(ArgumentError::OnlyClaimsAreJudgedAgain.into());
    }
    if let (Some(phases), false) = (arguments.phases, parts.iter().any(|part| matches!(part, Part::Vaxmix))) {
        return Err(ArgumentError::OnlyVaxmixHasPhases(phases.get()).into());
    }
    let phases = arguments.phases.map_or(PHASES, NonZeroU32::get);
    if phases < LEAST_PHASES {
        return Err(ArgumentError::FewPhases { phases, least: LEAST_PHASES }.into());
    }
    let text = match arguments.output.layout() {
        Format::Json => output_format::json(&document(&parts, phases)?),
        Format::Table => text(&parts, phases, arguments.output.page())?,
    };
    arguments.output.deliver(&text)?;
    Ok(Exit::Done)
}

/// The parts that these words name; all tables if there are no words. `certainty` is that of the claims.
fn parts(words: &[String], certainty: bool) -> Result<Vec<Part>, Error> {
    let tables = (0..RATES.len()).map(Part::Rates).chain(DRIVES.iter().map(Part::Drive));
    if words.is_empty() {
        return Ok(tables.collect());
    }
    let mut parts = Vec::new();
    for typed in words {
        let word = typed.to_ascii_lowercase();
        let is = |id: &str| id.eq_ignore_ascii_case(&word);
        if let Some(table) = RATES.iter().position(|table| is(table.id)) {
            parts.push(Part::Rates(table));
        } else if let Some(drive) = DRIVES.iter().find(|drive| is(drive.id)) {
            parts.push(Part::Drive(drive));
        } else if let Some(question) = QUESTIONS.iter().find(|question| is(question.id)) {
            parts.push(Part::Question(question));
        } else if word == "questions" {
            parts.extend(QUESTIONS.iter().map(Part::Question));
        } else if word == "claims" {
            parts.push(Part::Claims(certainty));
        } else if word == "assumptions" {
            parts.push(Part::Assumptions);
        } else if word == "vaxmix" {
            parts.push(Part::Vaxmix);
        } else if word == "lfs" {
            parts.push(Part::Lfs);
        } else {
            return Err(ArgumentError::NoSuchPart(typed.clone()).into());
        }
    }
    // A part that is named twice, also by `questions`, is printed once, at its first place.
    let mut seen = Vec::new();
    parts.retain(|part: &Part| {
        let is_new = !seen.contains(&part.id());
        seen.push(part.id());
        is_new
    });
    Ok(parts)
}

impl Part {
    /// The word that selects the part.
    fn id(&self) -> &'static str {
        match self {
            Part::Rates(index) => RATES[*index].id,
            Part::Drive(drive) => drive.id,
            Part::Question(question) => question.id,
            Part::Claims(_) => "claims",
            Part::Assumptions => "assumptions",
            Part::Vaxmix => "vaxmix",
            Part::Lfs => "lfs",
        }
    }
}

/// The cells of the wanted tables of rates. The summary is `None` unless all tables are wanted: otherwise it would
/// judge cells that are not shown.
fn cells(parts: &[Part]) -> Result<(Vec<Comparison>, Option<Summary>), MachineFault> {
    let tables: Vec<&str> = parts.iter().filter(|part| matches!(part, Part::Rates(_))).map(Part::id).collect();
    let cells = comparisons(&tables)?;
    let summary = summary(&cells).filter(|_| tables.len() == RATES.len());
    Ok((cells, summary))
}

fn text(parts: &[Part], phases: u32, page: Page) -> Result<String, MachineFault> {
    let (cells, summary) = cells(parts)?;
    let mut texts = Vec::new();
    for part in parts {
        texts.push(match part {
            Part::Rates(index) => rates(*index, &cells, page),
            Part::Drive(drive) => characteristics(drive, page),
            Part::Question(question) => answer(question, &question.answer()?, page),
            Part::Claims(certainty) => verdicts(&judged(*certainty)?, page),
            Part::Assumptions => replication::assumptions(&assumptions()?, page),
            Part::Vaxmix => replication::approaches(&approaches(phases)?, page),
            Part::Lfs => log_structured(page),
        });
    }
    if let Some(summary) = summary {
        texts.push(wrapped(&replication::held_out(&held_out()), page));
        let note = replication::fit_note(&summary, constants());
        texts.push(wrapped(&(note + "\n" + &replication::summary(&summary)), page));
    }
    Ok(texts.join("\n"))
}

/// A table of rates, with its footnote and its notes.
fn rates(index: usize, cells: &[Comparison], page: Page) -> String {
    let table = &RATES[index];
    let own: Vec<&Comparison> = cells.iter().filter(|cell| cell.table == table.id).collect();
    let mut text = replication::table(&format!("{}  {}", table.id, table.title), &own, page);
    if own.iter().any(|cell| cell.published.suspect) {
        text += &wrapped(&format!("\n{FOOTNOTE}\n"), page);
    }
    text + &wrapped(&replication::twins(&own, cells), page)
}

fn characteristics(drive: &DriveTable, page: Page) -> String {
    let rows = drive.rows.map(|(what, value, unit)| vec![what.to_owned(), format!("{value} {unit}").trim().to_owned()]);
    format!("{}  {}\n\n{}", drive.id, drive.title, replication::grid(&[], &rows, page))
}

fn answer(question: &Question, answer: &Answer, page: Page) -> String {
    let (effect, spread) = (&answer.effect.0, &answer.effect.1);
    let most = spread.most.as_ref().map_or_else(String::new, |most| format!("; {most} has the largest effect"));
    let reversed = match spread.reversed_by.as_slice() {
        [] => String::new(),
        names => format!(" The answer changes with {}.", names.join(", ")),
    };
    let asks = format!("{}  {}\n\n", question.id, question.asks);
    let sentences = format!(
        "\n{}\nCertainty: {effect} {:.2}; {:.2} to {:.2} if one fitted constant is 10 % off, or one guess or setting \
         is different{most}.{reversed}\n",
        answer.sentence, spread.value, spread.low, spread.high,
    );
    let grid = replication::grid(&answer.headings, &answer.rows, page);
    wrapped(&asks, page) + &grid + &wrapped(&sentences, page)
}

/// The answer to question c of the lab.
fn log_structured(page: Page) -> String {
    let answer = campaign::presets::lfs::log_structured::answer();
    wrapped(&format!("lfs  What would a log-structured file system change?\n\n{answer}.\n"), page)
}

/// The claims, judged; with their certainty if that is wanted.
fn judged(certainty: bool) -> Result<Vec<Judged>, MachineFault> {
    let claims = if certainty { claims_with_certainty()? } else { claims()? };
    Ok(claims.into_iter().map(claimed).collect())
}

fn verdicts(claims: &[Judged], page: Page) -> String {
    let verdicts = claims.iter().map(|claim| replication::Verdict {
        section: claim.section,
        says: &claim.says,
        printed: &claim.printed,
        simulated: &claim.simulated,
        verdict: &claim.verdict,
        depends_on: claim.depends_on.as_deref(),
    });
    replication::verdicts(&verdicts.collect::<Vec<_>>(), page)
}

/// The JSON document: the tables as in the schema, and the questions and claims that are asked for.
fn document(parts: &[Part], phases: u32) -> Result<PaperDocument, MachineFault> {
    let (all, summary) = cells(parts)?;
    let wanted = |cell: &Comparison| {
        parts.iter().any(|part| matches!(part, Part::Rates(index) if RATES[*index].id == cell.table))
    };
    let mut questions = Vec::new();
    let mut verdicts = Vec::new();
    let mut assumed = None;
    let mut drives = Vec::new();
    let mut vaxmix = None;
    let mut lfs = None;
    for part in parts {
        match part {
            Part::Question(question) => questions.push(asked(question, question.answer()?)),
            Part::Claims(certainty) => verdicts.extend(judged(*certainty)?),
            Part::Assumptions => assumed = Some(assumptions()?),
            Part::Drive(drive) => drives.push(listed(drive)),
            Part::Vaxmix => vaxmix = Some(approaches(phases)?),
            Part::Lfs => lfs = Some(campaign::presets::lfs::log_structured::answer().to_owned()),
            Part::Rates(_) => {}
        }
    }
    let cells: Vec<Comparison> = all.into_iter().filter(wanted).collect();
    let schema = PAPER_SCHEMA.to_owned();
    Ok(PaperDocument { schema, summary, cells, drives, questions, claims: verdicts, assumptions: assumed, vaxmix, lfs })
}

/// All tables, as they are printed if no part is named.
pub fn all_tables() -> Result<PaperDocument, Error> {
    Ok(document(&parts(&[], false)?, PHASES)?)
}

/// All tables as text.
pub fn all_text() -> Result<String, Error> {
    Ok(text(&parts(&[], false)?, PHASES, Page::ENDLESS)?)
}

fn listed(drive: &DriveTable) -> Drive {
    let rows = drive.rows.map(|(what, value, unit)| {
        let value = value.parse().expect("the published figures are numbers");
        Characteristic { what: what.to_owned(), value, unit: Some(unit.to_owned()).filter(|unit| !unit.is_empty()) }
    });
    Drive { id: drive.id.to_owned(), title: drive.title.to_owned(), rows: rows.into() }
}

fn asked(question: &Question, answer: Answer) -> Asked {
    let (effect, spread) = answer.effect;
    Asked {
        id: question.id.to_owned(),
        asks: question.asks.to_owned(),
        headings: answer.headings,
        rows: answer.rows,
        sentence: answer.sentence,
        effect: effect.to_owned(),
        value: spread.value,
        low: spread.low,
        high: spread.high,
        most: spread.most,
        reversed_by: spread.reversed_by,
    }
}

fn claimed(claim: Claim) -> Judged {
    Judged {
        section: claim.section,
        says: claim.says.to_owned(),
        printed: claim.printed,
        simulated: claim.simulated,
        verdict: claim.verdict.name().to_owned(),
        depends_on: claim.depends_on.map(|others| {
            let dependence =
                |(with, verdict): (String, Verdict)| Dependence { with, verdict: verdict.name().to_owned() };
            others.into_iter().map(dependence).collect()
        }),
    }
}
