//! `diskperf completions SHELL`: a shell's script to complete commands, options and presets. For ids of runs, targets
//! and words of the help, the scripts of bash, zsh and fish ask `diskperf completions --words COMMAND`.

use std::ffi::OsString;

use clap::Args;
use clap_complete::Shell;
use units::Exit;

use crate::cli::completion_words;
use crate::error::Error;
use crate::ui::output;

#[derive(Clone, Debug, Args)]
pub struct CompletionsArguments {
    /// Shell
    #[arg(required_unless_present = "words")]
    shell: Option<Shell>,
    /// Print the ids, targets or words that the arguments of COMMAND take. The scripts call it. The command line before
    /// the word to complete may follow.
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// The part of bash's script for words. Bash ends a word at a colon, so the part before it is cut off. For the same
/// reason, the words before are those between spaces.
const BASH: &str = r#"
_diskperf_words() {
    _diskperf "$@"
    local line="${COMP_LINE:0:COMP_POINT}" earlier known word
    local typed="${line##* }"
    [[ $COMP_CWORD -gt 1 && $typed != -* ]] || return 0
    read -ra earlier <<< "${line%"$typed"}"
    known="$("${COMP_WORDS[0]}" completions --words "${COMP_WORDS[1]}" "${earlier[@]}" 2>/dev/null)"
    local before="${typed%"${typed##*:}"}"
    for word in $(compgen -W "$known" -- "$typed"); do
        COMPREPLY+=("${word#"$before"}")
    done
}
complete -F _diskperf_words -o bashdefault -o default diskperf
"#;

/// The beginning of zsh's function, for words.
const ZSH: &str = r#"_diskperf() {
    if (( CURRENT > 2 )) && [[ $PREFIX != -* ]]; then
        compadd -- ${(f)"$($words[1] completions --words $words[2] "${(@Q)words[1,CURRENT-1]}" 2>/dev/null)"}
    fi
"#;

pub fn run(arguments: &CompletionsArguments, mut command: clap::Command) -> Result<Exit, Error> {
    if let Some((name, line)) = arguments.words.split_first() {
        command.build();
        let words = completion_words::words(name, line, &command);
        output::print(&words.into_iter().map(|word| word + "\n").collect::<String>())?;
    }
    let Some(shell) = arguments.shell else { return Ok(Exit::Done) };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "diskperf", &mut text);
    let script = with_paths(shell, &String::from_utf8_lossy(&text));
    output::print(&with_words(shell, script, &command))?;
    Ok(Exit::Done)
}

/// Lets the shell ask for words.
fn with_words(shell: Shell, script: String, command: &clap::Command) -> String {
    match shell {
        Shell::Bash => script + BASH,
        Shell::Zsh => script.replacen("_diskperf() {\n", ZSH, 1),
        Shell::Fish => {
            let line = |name: &str| {
                let (when, words) = ("__fish_diskperf_using_subcommand", "diskperf completions --words");
                format!("complete -c diskperf -n \"{when} {name}\" -a \"({words} {name} 2>/dev/null)\"\n")
            };
            script + &completion_words::commands(command).map(line).collect::<String>()
        }
        _ => script,
    }
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
