//! `diskperf history TEST [TARGET]`: the rate of a program in every stored run, and the changes between runs.
//!
//! Policy, how cells are assigned to targets:
//!   1. a target with a given name is identified by its name, wherever it is; its path finds it too;
//!   2. a directory without a given name is identified by its path: `.` in one folder is not `.` in another;
//!   3. any other target is identified by the argument as typed.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use campaign::choose::matching;
use campaign::targets::{TargetArgument, TargetKind};
use clap::Args;
use kernel::sys::name::{Shown, original};
use report::sanitize::line;
use stats::compare::history::{Sample, history};
use stats::inference::ratio_test::MARGIN;
use stats::{Document, Provenance, SCHEMA};
use store::StoredCell;
use units::Exit;

use crate::documents::document::plain;
use crate::documents::store_arguments::StoreArguments;
use crate::error::{Error, RunsError};
use crate::ui::output_format::{OutputArguments, Tabular, json};

#[derive(Clone, Debug, Args)]
pub struct HistoryArguments {
    /// Test (smallfb), phase (smallfb.read), or the beginning of a name (read for read_8192)
    #[arg(value_name = "TEST")]
    program: String,
    /// Name or path of a target [default: each target by itself]
    #[arg(value_name = "TARGET")]
    target: Option<OsString>,
    /// Show only the last N runs of each [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    #[command(flatten)]
    output: OutputArguments<Tabular>,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn run(arguments: &HistoryArguments) -> Result<Exit, Error> {
    arguments.output.check()?;
    let layout = arguments.output.layout();
    let unknown = |word: &str, known: Vec<String>| Error::from(RunsError::NoHistory { word: word.to_owned(), known });
    let store = arguments.store.to_read()?.ok_or_else(|| unknown(&arguments.program, Vec::new()))?;
    let programs = store.programs()?;
    let keys: Vec<(&str, &str)> = programs.iter().map(|(program, phase)| (program.as_str(), phase.as_str())).collect();
    let meant = matching(&arguments.program, &keys);
    if meant.is_empty() {
        let known: BTreeSet<String> = programs.iter().map(|(program, _)| program.clone()).collect();
        return Err(unknown(&arguments.program, known.into_iter().collect()));
    }
    let target = arguments.target.as_deref().map(OsStr::shown);
    let (mut samples, mut places) = (Vec::new(), BTreeSet::new());
    for key in meant {
        for stored in store.cells(keys[key].0, keys[key].1)? {
            let target_place = TargetPlace::from_cell(&stored);
            if stored.cell.provenance == Provenance::Published {
                continue;
            }
            if target.as_deref().is_none_or(|word| target_place.is_meant(word, &stored.cell.target)) {
                samples.push(sample(stored, target_place.place, layout == Tabular::Json));
            } else {
                places.insert(target_place.place);
            }
        }
    }
    if let (Some(target), true) = (&target, samples.is_empty()) {
        return Err(unknown(&format!("{} on {target}", arguments.program), places.into_iter().collect()));
    }
    let limit = arguments.limit.map_or(usize::MAX, |limit| limit as usize);
    let history = history(&samples, MARGIN, limit, report::cell_names);
    let text = match layout {
        Tabular::Table => report::compare::history::table(&history, arguments.output.page()),
        Tabular::Markdown => report::compare::history::markdown(&history),
        Tabular::Csv => report::compare::history::csv(&history),
        Tabular::Json => json(&history),
    };
    arguments.output.deliver(&text)?;
    Ok(Exit::Done)
}

/// A sample. Unless it is for JSON, control characters are escaped in every word.
fn sample(stored: StoredCell, place: String, is_json: bool) -> Sample {
    let StoredCell { run, info, cell, .. } = stored;
    if is_json {
        return Sample { run, place, info, cell };
    }
    let document = Document { schema: SCHEMA.to_owned(), run: info, cells: vec![cell], errors: Vec::new() };
    let Document { run: info, mut cells, .. } = plain(&document).into_owned();
    Sample { run, place: line(&place).into_owned(), info, cell: cells.remove(0) }
}

/// The place of a cell's target.
struct TargetPlace {
    /// The name of the place in all runs.
    place: String,
    /// The path, if the target is a directory.
    path: Option<PathBuf>,
    /// The argument as it was typed.
    argument: Option<String>,
}

impl TargetPlace {
    fn from_cell(stored: &StoredCell) -> TargetPlace {
        let name = &stored.cell.target;
        let argument = stored.info.targets.iter().find(|target| target.name == *name).map(|target| &target.argument);
        let typed = argument.and_then(|argument| argument.parse::<TargetArgument>().ok());
        let path = typed.as_ref().and_then(|typed| match &typed.kind {
            TargetKind::Directory(path) => Some((resolved(&stored.folder, path), *path == *original(&typed.typed))),
            _ => None,
        });
        let place = match &path {
            // 2
            Some((path, true)) => path.shown().into_owned(),
            // 1, 3
            _ => name.clone(),
        };
        TargetPlace { place, path: path.map(|(path, _)| path), argument: argument.cloned() }
    }

    fn is_meant(&self, word: &str, name: &str) -> bool {
        let here = || env::current_dir().unwrap_or_default();
        let is_place = self.path.as_ref().is_some_and(|path| *path == resolved(&here(), Path::new(&original(word))));
        // 2: a directory without a given name is identified by its path.
        let is_named = self.path.as_ref().is_none_or(|path| path.shown() != self.place);
        is_place || is_named && (word == name || self.argument.as_deref() == Some(word))
    }
}

/// The path from the root. Does not check that it exists.
fn resolved(folder: &Path, path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = resolved.pop(),
            other => resolved.push(other),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_spellings_of_a_path_are_the_same() {
        let from = |folder: &str, path: &str| resolved(Path::new(folder), Path::new(path));
        for (folder, path) in
            [("/data/a", "."), ("/data", "a"), ("/", "./data//a/"), ("/x/y", "../../data/a"), ("/x", "/data/a")]
        {
            assert_eq!(from(folder, path), Path::new("/data/a"), "{folder} {path}");
        }
    }
}
