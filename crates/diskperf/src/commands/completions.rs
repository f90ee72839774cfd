//! `diskperf completions SHELL`: a shell's script to complete commands, options and presets.

use clap::Args;
use clap_complete::Shell;
use units::Exit;

use crate::error::Error;
use crate::ui::output;

#[derive(Clone, Debug, Args)]
pub struct CompletionsArguments {
    /// Shell
    shell: Shell,
}

pub fn run(arguments: &CompletionsArguments, mut command: clap::Command) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "diskperf", &mut text);
    output::print(&with_paths(arguments.shell, &String::from_utf8_lossy(&text)))?;
    Ok(Exit::Done)
}

/// Lets the shell complete the first word as a path too: clap does not know `diskperf PATH`. bash and PowerShell
/// complete paths if nothing else fits.
fn with_paths(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Zsh => script.replacen(
            "\":: :_diskperf_commands\"",
            "\":: :{ _alternative 'commands:: _diskperf_commands' 'files:: _files' }\"",
            1,
        ),
        Shell::Fish => format!("{script}complete -c diskperf -n \"__fish_diskperf_needs_command\" -F\n"),
        _ => script.to_owned(),
    }
}
