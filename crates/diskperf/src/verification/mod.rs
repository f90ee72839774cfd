//! The power-cut test: its two ways, and the document that both make.

pub mod image_power_cut;
pub mod manual_power_cut;

use std::path::Path;

use kernel::observe::host::Host;
use powercut::{Cut, Kind, LedgerFault, Verdict, VerifyFault};
use stats::{Kept, PowerCut, Problem, VERIFICATION_SCHEMA, Verification};
use units::{Bytes, Exit};

use crate::documents::user_files;
use crate::error::Error;
use crate::ui::output;
use crate::ui::output_format::{Format, OutputArguments, json};

/// The longest log that is accepted. It has some twenty bytes a record; hours of a fast disk take less.
const LONGEST: Bytes = Bytes::mib(1 << 10);

/// The number of power cuts of an image, and the seed of their moments and data, if none is given. Chosen.
pub const POWER_CUTS: u32 = 20;
pub const SEED: u64 = 1;

/// An empty document about a target, as it was typed.
pub fn document(target: &str, seed: u64) -> Verification {
    Verification {
        schema: VERIFICATION_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: Host::this().kernel,
        target: target.to_owned(),
        seed,
        cuts: Vec::new(),
        control: None,
        interrupted: false,
        errors: Vec::new(),
    }
}

/// Converts a power cut for the document.
fn power_cut(round: u32, cut: Cut) -> PowerCut {
    let Cut { unflushed_bytes, unmountable, judged } = cut;
    let kinds = Kind::ALL.map(|kind| {
        let count = |wanted: &[Verdict]| {
            judged.iter().filter(|(of, verdict)| *of == kind && wanted.contains(verdict)).count() as u64
        };
        Kept {
            kind: kind.name().to_owned(),
            acknowledged: judged.iter().filter(|(of, _)| *of == kind).count() as u64,
            intact: count(&[Verdict::Intact]),
            missing: count(&[Verdict::Missing]),
            torn: count(&[Verdict::Torn]),
            stale: count(&[Verdict::Stale]),
        }
    });
    PowerCut { round, unflushed_bytes, unmountable, kinds: kinds.into() }
}

/// Adds the error that ended the test to the findings.
pub fn record_error(found: &mut Verification, ended: &Result<(), Error>) {
    if let Err(error) = ended {
        let (message, hint) = (error.to_string(), error.hint());
        found.errors.push(Problem { target: Some(found.target.clone()), program: None, phase: None, message, hint });
    }
}

/// Prints the findings, and returns the exit status:
///   1. an error decides the exit status; the findings before it are printed all the same;
///   2. a test that was told to stop is interrupted;
///   3. losses are a condition that is not met, as the test looks for them;
///   4. a control without losses, or a test without acknowledged records, has failed.
fn conclude(output: &OutputArguments, mut found: Verification, ended: Result<(), Error>) -> Result<Exit, Error> {
    record_error(&mut found, &ended);
    let is_json = output.layout() == Format::Json;
    if is_json || !found.cuts.is_empty() {
        output.deliver(&if is_json { json(&found) } else { report::verification::table(&found, output.page()) })?;
    }
    // 1
    ended?;
    let (acknowledged, lost) = found.totals();
    let shows_nothing = acknowledged == 0 || found.control.as_ref().is_some_and(|control| control.lost() == 0);
    Ok(match (found.interrupted, lost) {
        // 2
        (true, _) => {
            output::remark(&format!("interrupted after {} power cuts; nothing is left behind", found.cuts.len()));
            Exit::Interrupted
        }
        // 3
        (false, 1..) => Exit::Unmet,
        // 4
        (false, 0) if shows_nothing => Exit::Failed,
        (false, 0) => Exit::Done,
    })
}

/// The whole text of a log, which may come from standard input.
fn text_of(file: &Path) -> Result<String, Error> {
    let bad = |fault| VerifyFault::BadLog { path: file.to_owned(), fault };
    let bytes = user_files::bytes(file, LONGEST)?.ok_or_else(|| bad(LedgerFault::TooLong))?;
    Ok(String::from_utf8(bytes).map_err(|_| bad(LedgerFault::NotALog))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_counted_once() {
        let verdicts = [Verdict::Intact, Verdict::Missing, Verdict::Torn, Verdict::Stale];
        let judged: Vec<(Kind, Verdict)> =
            Kind::ALL.into_iter().flat_map(|kind| verdicts.map(|verdict| (kind, verdict))).collect();
        let cut = power_cut(3, Cut { unflushed_bytes: None, unmountable: None, judged });
        assert_eq!((cut.round, cut.acknowledged(), cut.lost()), (3, 16, 12));
        for kept in &cut.kinds {
            assert_eq!((kept.intact, kept.missing, kept.torn, kept.stale), (1, 1, 1, 1), "{}", kept.kind);
        }
    }
}
