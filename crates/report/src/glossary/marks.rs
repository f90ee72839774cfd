//! The warnings (in JSON marks). Their explanations are those of the crate `stats`, next to their names.

use stats::MarkCode;

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &entries();

const fn entries() -> [Entry; MarkCode::ALL.len()] {
    let mut entries = [entry(MarkCode::ALL[0]); MarkCode::ALL.len()];
    let mut index = 0;
    while index < MarkCode::ALL.len() {
        entries[index] = entry(MarkCode::ALL[index]);
        index += 1;
    }
    entries
}

const fn entry(code: MarkCode) -> Entry {
    let explanation = code.explanation();
    Entry {
        word: code.name(),
        also: explanation.also,
        brief: explanation.brief,
        says: explanation.says,
        when: explanation.when,
        advice: explanation.advice,
    }
}
