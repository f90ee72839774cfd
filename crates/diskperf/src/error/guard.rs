//! The hint for a run that is not resumed, because its device may not be overwritten again.

use std::ffi::OsString;
use std::path::Path;

use kernel::guard::{GuardFault, Reason, hints};

use crate::ui::consent::Doubt;
use crate::ui::shell;

/// What to try if a run is not resumed. This command started it in this folder.
pub fn hint_on_resuming(
    fault: &GuardFault,
    doubt: Option<Doubt>,
    folder: &Path,
    command: &[OsString],
) -> Option<String> {
    let GuardFault::Refused { reasons, identity, .. } = fault else { return fault.hint() };
    if reasons.iter().any(Reason::is_of_the_system) {
        return fault.hint();
    }
    let mut hints = hints(reasons);
    // A file system that was replaced, or of which the notes are gone, is not listed.
    let is_listed = !matches!(doubt, Some(Doubt::Replaced | Doubt::Restarted));
    if is_listed && !reasons.iter().any(Reason::is_known_content) {
        hints.insert(0, "list the leftovers of killed runs: diskperf clean".to_owned());
    }
    if reasons.iter().all(Reason::can_be_lifted) {
        // The words after two dashes are a command of yours.
        let end = command.iter().position(|word| word == "--").unwrap_or(command.len());
        let (own, rest) = command.split_at(end);
        let agreed = ["--destroy-data", "--confirm", identity].map(OsString::from);
        let agreed = if own.iter().any(|word| word == "--destroy-data") { &[][..] } else { &agreed[..] };
        let (folder, line) = (shell::word(folder), shell::line(own.iter().chain(agreed).chain(rest)));
        hints.push(format!("to overwrite its data and start again: cd {folder} && {line}"));
    }
    Some(hints.join("; "))
}
