//! `diskperf delete RUN...`: removes stored runs.
//!
//! Policy:
//!   1. every run is found before any is deleted: a missing run is an error, and nothing is deleted;
//!   2. a run that a living process measures is refused;
//!   3. the user says yes, on a terminal or by --yes, before anything is deleted;
//!   4. the database shrinks, unless another process measures into it: that process would have to wait meanwhile. The
//!      user learns that parts of the runs may be left in it.

use std::collections::BTreeSet;

use clap::Args;
use kernel::ProcessIdentity;
use store::{Doomed, Left, RunState, StoreError};
use units::Exit;

use crate::documents::store_arguments::{StoreArguments, is_alive};
use crate::error::{ConsentError, Error, RunsError};
use crate::leftovers;
use crate::ui::consent;
use crate::ui::output;
use crate::ui::shell;

#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  diskperf delete k3fw\n  diskperf delete last 7kkz-261122 --yes")]
pub struct DeleteArguments {
    /// Stored run: its id, the beginning of an id, its name, or last
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// Delete without asking; required without a terminal.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn run(arguments: &DeleteArguments) -> Result<Exit, Error> {
    let unknown = || StoreError::UnknownRun { typed: arguments.runs[0].clone(), near: Vec::new() };
    // A database that does not exist is not created.
    drop(arguments.store.to_read()?.ok_or_else(unknown)?);
    let mut store = arguments.store.to_write()?.ok_or_else(unknown)?;
    // 1
    let mut runs: Vec<Doomed> = Vec::new();
    for typed in &arguments.runs {
        let run = store.doomed(&store.find(typed)?)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    // 2
    for run in runs.iter().filter(|run| run.state == RunState::Running) {
        if let Ok(process) = run.holder.parse::<ProcessIdentity>()
            && process.lives()
        {
            return Err(RunsError::StillMeasured {
                run: run.id.clone(),
                pid: process.pid,
                is_here: process.can_be_seen(),
            }
            .into());
        }
    }
    // 3
    let names = runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ");
    if !arguments.yes && !consent::agrees(&format!("delete {names}? [y/N] ")) {
        return Err(ConsentError::NotAgreed { things: names, count: runs.len() }.into());
    }
    let killed = runs.iter().filter(|run| run.state == RunState::Running);
    let left: Vec<Left> = killed.filter_map(|run| store.left(&run.id).ok()).collect();
    store.delete(&runs)?;
    for run in &runs {
        output::print_line(&format!("deleted {}  {}", run.id, run.preset.as_deref().unwrap_or("no preset")))?;
    }
    for command in left.iter().flat_map(cleaning).collect::<BTreeSet<_>>() {
        output::remark(&format!("the killed run may have left files: {command}"));
    }
    // 4
    if store.holders()?.iter().any(|holder| is_alive(holder)) {
        output::remark(&not_shrunk("because another run is writing to it"));
    } else if let Err(error) = store.shrink() {
        output::remark(&not_shrunk(&format!("({error})")));
    }
    Ok(Exit::Done)
}

fn not_shrunk(why: &str) -> String {
    format!(
        "the database was not shrunk {why}: later runs reuse the space, and it may hold parts of deleted runs until \
         the next diskperf delete"
    )
}

/// The commands that list what a killed run left. `clean` finds devices and queues by their notes, but the directories
/// of a deleted run only from within.
fn cleaning(left: &Left) -> Vec<String> {
    let paths = leftovers::paths(&left.info.targets, &left.folder).filter_map(|path| path.canonicalize().ok());
    let inside = |path| format!("cd {} && diskperf clean", shell::word(path));
    let commands: Vec<String> = paths.filter(|path| path.is_dir()).map(inside).collect();
    if commands.is_empty() { vec!["diskperf clean".to_owned()] } else { commands }
}
