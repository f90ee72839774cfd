//! `diskperf resume [RUN]`: continues a run where it ended.
//!
//! Policy:
//!   1. resume takes the named run, or the last one that is not finished and that no running process measures;
//!   2. results of one run come from one diskperf version on one machine, or on the same hosts in the same order:
//!      otherwise it is refused, with a hint how to run it again;
//!   3. the request of the run is loaded, and resolved in the folder where its command was given. The programs of a
//!      user command must be the same. A run that was stored without a request cannot be resumed;
//!   4. leftovers of the run's process are removed, also if it is not resumed: private folders, file systems on devices
//!      and tuned queues, with the run's name in their tags and notes;
//!   5. `--destroy-data` of the stored command does not cover data that others may have written to a device since the
//!      run was killed (`consent::Earlier`). The run then stays a killed one.

use std::env;

use campaign::peers::Peers;
use campaign::peers::same_hosts::{self, Difference};
use clap::Args;
use kernel::observe::host::Host;
use kernel::{PathFault, ProcessIdentity};
use store::{LAST, Left, RunState, Store, StoreError};
use units::Exit;

use crate::commands::run;
use crate::documents::store_arguments::{RunStoreArguments, StoreArguments, is_alive};
use crate::error::{Error, RunsError};
use crate::session::{Call, Resumed, Stored};
use crate::ui::event_sentences;

#[derive(Clone, Debug, Args)]
pub struct ResumeArguments {
    /// Run id, the beginning of one, or last [default: the last run that is not finished].
    run: Option<String>,
    #[command(flatten)]
    store: StoreArguments,
}

pub fn run(arguments: &ResumeArguments) -> Result<Exit, Error> {
    let typed = arguments.run.as_deref();
    let unknown = || StoreError::UnknownRun { typed: typed.unwrap_or(LAST).to_owned(), near: Vec::new() };
    // A database that does not exist is not created.
    drop(arguments.store.to_read()?.ok_or_else(unknown)?);
    let store = arguments.store.to_write()?.ok_or_else(unknown)?;
    // 1
    let run = match typed {
        Some(typed) => store.find(typed)?,
        None => last_unfinished(&store)?,
    };
    let left = store.left(&run)?;
    if left.state == RunState::Finished {
        return Err(RunsError::NothingLeft(run).into());
    }
    if left.state == RunState::Running
        && let Ok(process) = left.holder.parse::<ProcessIdentity>()
        && process.lives()
    {
        return Err(RunsError::StillRuns { run, pid: process.pid, is_here: process.can_be_seen() }.into());
    }
    // 2
    let (words, folder) = (left.command.clone(), left.folder.clone());
    let elsewhere = |elsewhere: String| {
        let (run, folder, command) = (run.clone(), folder.clone(), words.clone());
        Error::from(RunsError::Elsewhere { run, elsewhere, hosts: left.info.hosts.len(), folder, command })
    };
    let resolve = || {
        let peers = Peers::connect()?;
        match same_hosts::difference(&left.info.hosts, &peers.infos()) {
            Some(Difference::Others(difference)) => {
                let hosts = left.info.hosts.len();
                return Err(RunsError::OtherHosts { run: run.clone(), difference, hosts }.into());
            }
            Some(Difference::Changed(difference)) => return Err(elsewhere(difference)),
            None => {}
        }
        if let Some(difference) = difference(&left) {
            return Err(elsewhere(difference));
        }
        // 3
        let Stored { request, output } = stored(&left).map_err(|difference| elsewhere(difference.to_owned()))?;
        env::set_current_dir(&folder).map_err(|_| PathFault::Missing(folder.clone()))?;
        let resolved = request.resolve()?;
        if let Some((then, now)) = resolved.other_program() {
            return Err(elsewhere(format!("with {then}, and diskperf now finds {now}")));
        }
        Ok((resolved, output, peers))
    };
    let resolved = resolve();
    let mut resumed = Resumed { store, run: run.clone(), left: left.clone(), peers: Peers::Alone };
    match resolved {
        Ok((resolved, output, peers)) => {
            resumed.peers = peers;
            let call =
                Call { words: &words, store: &RunStoreArguments::default(), output, dry_run: false, live: false };
            run::resume(&resolved, &call, resumed)
        }
        Err(error) => {
            // 4
            resumed.abandon(&mut event_sentences::say);
            Err(error)
        }
    }
}

fn last_unfinished(store: &Store) -> Result<String, Error> {
    let is_left = |state: RunState, holder: &str| match state {
        RunState::Finished => false,
        RunState::Running => !is_alive(holder),
        RunState::Interrupted | RunState::Failed => true,
    };
    let runs = store.list()?;
    let last = runs.into_iter().rev().find(|run| is_left(run.state, &run.holder));
    last.map(|run| run.id).ok_or(RunsError::AllFinished.into())
}

/// The stored request and output options. An error says how the run was stored instead.
fn stored(left: &Left) -> Result<Stored, &'static str> {
    let text = left.request.as_ref().ok_or("by an older diskperf, whose runs cannot be resumed")?;
    Stored::of_text(text).ok_or("by another build of diskperf")
}

/// A phrase about the version, host, kernel or CPU count that changed since the run began; `None` if all are the same.
fn difference(left: &Left) -> Option<String> {
    let (then, now) = (&left.info, Host::this());
    if then.version != env!("CARGO_PKG_VERSION") {
        return Some(format!("by diskperf {}, and this is {}", then.version, env!("CARGO_PKG_VERSION")));
    }
    if then.host != now.name {
        return Some(format!("on {}, and this is {}", then.host, now.name));
    }
    if then.kernel != now.kernel {
        return Some(format!("on {}, and this is {}", then.kernel, now.kernel));
    }
    (then.cpus != now.cpus as u64).then(|| format!("with {} CPUs, and there are {}", then.cpus, now.cpus))
}
