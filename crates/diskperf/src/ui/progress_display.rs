//! Progress on standard error, only on a terminal, from the events of the run. The line is drawn between programs.
//! While one runs, only the live line draws, if it is wanted: once a second, because drawing takes CPU time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use campaign::events::Event;
use campaign::fit::duration_words::about;
use campaign::plan::{Alternative, Plan};
use campaign::rounds::Convergence;
use campaign::rounds::deadline::since;
use runner::live::Live;
use units::{Bytes, Nanos};
use workload::{Parameter, ParameterValue};

use crate::ui::event_sentences;
use crate::ui::live_line::{Frame, LiveLine};
use crate::ui::output;
use crate::ui::progress::Progress;
use crate::ui::status_line::StatusLine;

/// Columns of the bar.
const BAR: u64 = 20;

/// Bytes of a call that conditions a device.
const CALL: u64 = kernel::CONDITIONING_CALL as u64;

/// The progress line. Silent if standard error is not a terminal.
pub struct Display {
    began: Instant,
    progress: Progress,
    /// The beginning of the line, as in `round 2 of 5: `, if there are rounds.
    round: String,
    /// The name of each test with the settings that distinguish it.
    tests: Vec<String>,
    line: Arc<StatusLine>,
    /// The figures of the running test, if they are to be shown, and true if it has no time limit.
    live: Option<(&'static Live, bool)>,
    live_line: Option<LiveLine>,
}

impl Display {
    /// A line that is not shown yet.
    pub fn new() -> Display {
        let (progress, round, line) = (Progress::default(), String::new(), Arc::new(StatusLine::new()));
        Display { began: Instant::now(), progress, round, tests: Vec::new(), line, live: None, live_line: None }
    }

    /// Shows these figures while a test runs. `is_endless` if it has no time limit.
    pub fn show_live(&mut self, live: &'static Live, is_endless: bool) {
        self.live = Some((live, is_endless));
    }

    /// True if the line is shown.
    pub fn is_seen(&self) -> bool {
        self.line.is_seen()
    }

    /// Shows an event, if it has anything to show.
    pub fn show(&mut self, event: &Event) {
        let now = since(self.began);
        match event {
            Event::ImageWritten { bytes, of, .. }
            | Event::DeviceWritten { bytes, of, .. }
            | Event::DeviceRead { bytes, of, .. }
                if bytes == of =>
            {
                self.line.clear();
            }
            Event::DeviceRead { target, bytes, of } => {
                let percent = 100 * bytes / of.max(&1);
                self.draw(*bytes, *of, &format!("checking that {target} is blank, {percent} % of {}", Bytes(*of)));
            }
            Event::ImageWritten { target, bytes, of } => {
                let percent = 100 * bytes / of.max(&1);
                self.draw(*bytes, *of, &format!("writing the image for {target}, {percent} % of {}", Bytes(*of)));
            }
            Event::DeviceWritten { target, bytes, of } => {
                // There are hundreds of calls per second, and conditioning waits for the drawing.
                if 1000 * bytes / of.max(&1) != 1000 * bytes.saturating_sub(CALL) / of.max(&1) {
                    let percent = 100 * bytes / of.max(&1);
                    self.draw(*bytes, *of, &format!("conditioning {target}, {percent} % of {}", Bytes(*of)));
                }
            }
            Event::Started(plan) => {
                (self.began, self.progress) = (Instant::now(), Progress::new(plan));
                self.tests = tests(plan);
            }
            Event::RoundStarted { round, rounds, convergence } => {
                self.progress.expects((rounds + 1).saturating_sub(*round));
                self.round = match convergence {
                    None => format!("round {round} of {rounds}: "),
                    // Nothing was compared yet.
                    Some(Convergence { all: 0, .. }) => format!("round {round} of about {rounds}: "),
                    Some(Convergence { all, decided, is_loaded: false, .. }) if all == decided => {
                        format!("round {round} of about {rounds}, all decided, testing that the rates last: ")
                    }
                    Some(convergence) => {
                        format!(
                            "round {round} of about {rounds}, {} of {} decided: ",
                            convergence.decided, convergence.all
                        )
                    }
                };
            }
            Event::ProgramStarted { index, program, target } => {
                self.progress.started(*index, now);
                let rest = self.rest(now).map_or_else(String::new, |rest| rest + "; ");
                let (ended, all) = self.progress.counted();
                let test = self.tests.get(*index).map_or(*program, String::as_str);
                let test = format!("{test} on {target}");
                self.draw(ended, all, &format!("{rest}{}{test}", self.round));
                if let Some((live, is_endless)) = self.live {
                    let rest = format!("{}{rest}", self.round);
                    let rest = (!is_endless).then(|| rest.trim_end_matches([';', ':', ' ']).replace(": ", ", "));
                    self.live_line = Some(LiveLine::start(live, Arc::clone(&self.line), Frame { test, rest }));
                }
            }
            Event::ProgramEnded { index } => {
                self.live_line = None;
                self.progress.ended(*index, now);
                // In a run with rounds, the line of the next program follows at once.
                if self.round.is_empty() {
                    let (ended, all) = self.progress.counted();
                    self.draw(ended, all, &self.rest(now).unwrap_or_default());
                }
            }
            // Above the line, so that the user sees figures long before the table.
            Event::FirstFigures { cells, all } if self.line.is_seen() => {
                let figures: Vec<String> = cells.iter().filter_map(|cell| report::first_figure(cell, all)).collect();
                self.line.aside(|| figures.iter().for_each(|figure| output::remark(figure)));
            }
            Event::FirstFigures { .. } => {}
            Event::Finished => {
                self.live_line = None;
                self.line.clear();
            }
            event => {
                let sentences = event_sentences::sentences(event);
                if !sentences.is_empty() {
                    self.line.aside(|| sentences.iter().for_each(|sentence| output::remark(sentence)));
                }
            }
        }
    }

    /// Shows that this number of simulations has ended, of those of a sweep that is planned in steps.
    pub fn show_simulated(&mut self, ended: u64, all: u64) {
        if self.is_seen() && ended > 0 {
            let each = since(self.began).0 / ended;
            let rest = Nanos(each.saturating_mul(all.saturating_sub(ended)));
            self.draw(ended, all, &format!("{} left", about(rest)));
        }
    }

    /// The remaining time, as in `35 s left`, if it is known.
    fn rest(&self, now: Nanos) -> Option<String> {
        Some(format!("{} left", about(self.progress.rest(now)?)))
    }

    /// Draws the line, as in `[=====>    ] 35 s left; round 2 of 5: commit on .`
    fn draw(&mut self, done: u64, of: u64, message: &str) {
        let filled = (BAR * done / of.max(1)).min(BAR) as usize;
        let arrow = if filled < BAR as usize { ">" } else { "" };
        self.line.say(&format!("[{:<width$}] {message}", "=".repeat(filled) + arrow, width = BAR as usize));
    }
}

/// The name of each test of the plan, with the settings that distinguish it from others of the same name.
fn tests(plan: &Plan) -> Vec<String> {
    let mut firsts = BTreeMap::new();
    let mut different: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for Alternative { targets, row } in &plan.alternatives {
        let (key, parameters) = ((targets, row.program.name), &row.program.parameters);
        let first = *firsts.entry(key).or_insert(parameters);
        let others = parameters.iter().filter(|parameter| !first.contains(parameter));
        different.entry(key).or_default().extend(others.map(|parameter| parameter.name));
    }
    let name = |Alternative { targets, row }: &Alternative| {
        let different = &different[&(targets, row.program.name)];
        // A deeper queue shows the engine.
        let is_shown = |name: &str| different.contains(name) && (name != "engine" || !different.contains("iodepth"));
        let settings = row.program.parameters.iter().filter(|parameter| is_shown(parameter.name));
        let settings = settings.map(|Parameter { name, value }| match (name.strip_suffix("_bytes"), value) {
            (Some(what), ParameterValue::Number(bytes)) => format!(", {what} {}", Bytes(*bytes)),
            _ => format!(", {name} {value}"),
        });
        row.program.name.to_owned() + &settings.collect::<String>()
    };
    plan.alternatives.iter().map(name).collect()
}
