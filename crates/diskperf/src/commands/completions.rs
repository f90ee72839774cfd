//! `diskperf completions SHELL`: what a shell reads to complete commands, options and presets.

use clap::Args;
use clap_complete::Shell;

use crate::cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::output;

/// What `diskperf completions` takes.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArguments {
    /// For which shell.
    shell: Shell,
}

/// Runs the command.
pub fn run(arguments: &CompletionsArguments) -> Result<Exit, Error> {
    let mut command = cli::command();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "diskperf", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
