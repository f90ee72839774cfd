//! Progress on standard error, only on a terminal, from the events of the run. The line is drawn between programs and
//! never while one runs: a ticking clock would take CPU time from the measured program.

use std::time::Instant;

use campaign::events::Event;
use campaign::fit::duration_words::about;
use campaign::rounds::Convergence;
use campaign::rounds::deadline::since;
use units::{Bytes, Nanos};

use crate::ui::event_sentences;
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
    line: StatusLine,
}

impl Display {
    /// A line that is not shown yet.
    pub fn new() -> Display {
        let (progress, round, line) = (Progress::default(), String::new(), StatusLine::new());
        Display { began: Instant::now(), progress, round, line }
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
            Event::Started(plan) => (self.began, self.progress) = (Instant::now(), Progress::new(plan)),
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
                self.draw(ended, all, &format!("{rest}{}{program} on {target}", self.round));
            }
            Event::ProgramEnded { index } => {
                self.progress.ended(*index, now);
                // Between rounds the next line follows at once.
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
            Event::Finished => self.line.clear(),
            event => {
                let sentences = event_sentences::sentences(event);
                if !sentences.is_empty() {
                    self.line.aside(|| sentences.iter().for_each(|sentence| output::remark(sentence)));
                }
            }
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
