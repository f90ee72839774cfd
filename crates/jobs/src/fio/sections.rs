//! The sections of a fio job and their settings, as text. `import` knows what the settings mean.
//!
//! Policy, as fio 3.33 does (tried out):
//!   1. a line ends at the first `;` or `#`;
//!   2. `[NAME]` begins a section, and its name ends at the first `]`. No setting comes before the first section;
//!   3. a setting is `NAME=VALUE` or `NAME` alone. Names are case sensitive;
//!   4. a section whose name begins with `global` sets defaults of all sections after it, and a later one adds to them.
//!      The last value of a name counts. Other sections may have the same name;
//!   5. `kb_base` applies to its whole section, but not to the settings that the section inherits.
//!
//! Unlike fio, this module refuses `[NAME` without a bracket, included files and variables.

use std::ops::Range;

use crate::error::JobError;
use crate::source_span::Source;

use super::units::KbBase;
use super::words::KB_BASE;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value, if it has one.
    pub value: Option<&'a str>,
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// The number of bytes in a `k` of its value.
    pub base: KbBase,
}

/// A section, including the settings that it inherits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// The bytes of its name in the text.
    pub span: Range<usize>,
    /// Its settings: each name once, in the order of the first of each name.
    pub settings: Vec<Setting<'a>>,
}

/// The beginning of the names of sections that others inherit from. fio compares only these letters (`init.c`).
const GLOBAL: &str = "global";

/// True if fio takes a section with this name as defaults of the sections after it.
pub fn is_global(name: &str) -> bool {
    name.starts_with(GLOBAL)
}

/// The maximum number of sections. Chosen: each becomes a workload, and a run of ten thousand workloads would never
/// end.
const MOST_SECTIONS: usize = 10_000;

/// The maximum number of settings of a section. Chosen: twice the number of options of fio 3.33 (`fio --cmdhelp` lists
/// some 250).
const MOST_SETTINGS: usize = 512;

/// The maximum number of settings that all sections inherit together. Each section copies those of `[global]`, and a
/// file of 50 KB could need a gigabyte. Chosen: 40 for each of 10,000 sections, about 20 MB.
const MOST_INHERITED: usize = 40 * MOST_SECTIONS;

/// The sections of a job.
pub fn sections(text: &Source) -> Result<Vec<Section<'_>>, JobError> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut global: Vec<Setting<'_>> = Vec::new();
    let mut sets_defaults = None;
    let mut header = 0;
    let mut inherited = 0;
    let mut offset = 0;
    for whole in text.text.split_inclusive('\n') {
        // 1
        let line = whole.split([';', '#']).next().unwrap_or_default();
        let start = offset + line.len() - line.trim_start().len();
        let line = line.trim();
        let span = start..start + line.len();
        offset += whole.len();
        if line.is_empty() {
            continue;
        }
        let at = || text.span(span.clone());
        // 2
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, _)) = rest.split_once(']') else { return Err(JobError::OpenSection(at())) };
            let name = name.trim();
            (sets_defaults, header) = (Some(is_global(name)), start);
            if !is_global(name) {
                if sections.len() == MOST_SECTIONS {
                    return Err(JobError::TooMany { at: at(), what: "sections", most: MOST_SECTIONS });
                }
                inherited += global.len();
                if inherited > MOST_INHERITED {
                    let what = "settings inherited from [global]";
                    return Err(JobError::TooMany { at: at(), what, most: MOST_INHERITED });
                }
                sections.push(Section { name, span, settings: global.clone() });
            }
            continue;
        }
        if line == "include" || line.starts_with("include ") || line.starts_with("include\t") {
            return Err(JobError::Include(at()));
        }
        if line.contains("${") || line.contains("$pagesize") || line.contains("$mb_memory") || line.contains("$ncpus") {
            return Err(JobError::Variable(at()));
        }
        // 3
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (line, None),
        };
        let setting = Setting { name, value, span: span.clone(), base: KbBase::Binary };
        // 4
        match (sets_defaults, sections.last_mut()) {
            (Some(true), _) => set(&mut global, setting, header),
            (Some(false), Some(section)) => set(&mut section.settings, setting, header),
            _ => return Err(JobError::OutsideSections(at())),
        }
        let set = if sets_defaults == Some(true) { Some(&global) } else { sections.last().map(|last| &last.settings) };
        if set.is_some_and(|settings| settings.len() > MOST_SETTINGS) {
            return Err(JobError::TooMany { at: at(), what: "settings of a section", most: MOST_SETTINGS });
        }
    }
    Ok(sections)
}

/// Adds a setting of the section that begins at `header`, or replaces the one with its name.
fn set<'a>(settings: &mut Vec<Setting<'a>>, mut setting: Setting<'a>, header: usize) {
    // 5
    if setting.name == KB_BASE {
        setting.base = if setting.value == Some("1000") { KbBase::Decimal } else { KbBase::Binary };
        let of_section = settings.iter_mut().filter(|known| known.span.start > header);
        of_section.for_each(|known| known.base = setting.base);
    } else if let Some(known) = settings.iter().find(|known| known.name == KB_BASE) {
        setting.base = known.base;
    }
    match settings.iter_mut().find(|known| known.name == setting.name) {
        Some(known) => *known = setting,
        None => settings.push(setting),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        let text = Source::new("x", text);
        let sections = sections(&text).map_err(|fault| fault.to_string())?;
        let words = |setting: &Setting<'_>| format!("{}={}", setting.name, setting.value.unwrap_or("-"));
        Ok(sections
            .iter()
            .map(|section| (section.name.to_owned(), section.settings.iter().map(words).collect::<Vec<_>>().join(" ")))
            .collect())
    }

    #[test]
    fn a_section_inherits_settings_of_earlier_global_sections() {
        let text = "; a fio job\n[global]\nbs=4k\n  rw = read ; or write\n[a]\nbs=8k # larger\ngroup_reporting\n\
                    [global]\r\nbs=1k\n[a]\n\tdirect=1\r\n";
        let expected = [("a", "bs=8k rw=read group_reporting=-"), ("a", "bs=1k rw=read direct=1")];
        assert_eq!(read(text), Ok(expected.map(|(name, set)| (name.to_owned(), set.to_owned())).to_vec()));
        assert_eq!(read(""), Ok(Vec::new()));
    }

    #[test]
    fn the_base_of_a_section_does_not_change_what_it_inherits() {
        let text = "[global]\nsize=1k\n[a]\nbs=1k\nkb_base=1000\nrate=1k\n[b]\nbs=1k\n[global]\nkb_base=1000\n[c]\n\
                    bs=1k\n";
        let text = Source::new("x", text);
        let sections = sections(&text).expect("sections");
        let (two, ten) = (KbBase::Binary, KbBase::Decimal);
        let expected = [
            &[("size", two), ("bs", ten), ("rate", ten)][..],
            &[("size", two), ("bs", two)],
            &[("size", two), ("bs", ten)],
        ];
        for (section, expected) in sections.iter().zip(expected) {
            let settings = section.settings.iter().filter(|setting| setting.name != KB_BASE);
            let bases: Vec<(&str, KbBase)> = settings.map(|setting| (setting.name, setting.base)).collect();
            assert_eq!(bases, expected, "[{}]", section.name);
        }
    }

    #[test]
    fn names_that_begin_with_global_are_global() {
        let text = "[global_defaults]\nbs=8k\n[global-scan]\nrw=randread\n[a]\n[Global]\n";
        let expected = [("a", "bs=8k rw=randread"), ("Global", "bs=8k rw=randread")];
        assert_eq!(read(text), Ok(expected.map(|(name, set)| (name.to_owned(), set.to_owned())).to_vec()));
    }

    #[test]
    fn inherited_settings_are_limited() {
        let job = |sections: usize| {
            let mut text = "[global]\n".to_owned();
            (0..400).for_each(|index| text += &format!("x{index}\n"));
            (0..sections).for_each(|_| text += "[a]\n");
            read(&text)
        };
        assert_eq!(job(1000).expect("sections").len(), 1000);
        assert_eq!(job(1001), Err("x:1402:1: more than 400000 settings inherited from [global]".to_owned()));
    }

    #[test]
    fn errors_in_fio_jobs_have_line_and_column() {
        for (text, said) in [
            ("bs=4k\n[a]", "x:1:1: an option before the first section"),
            ("[a]\n[b\n", "x:2:1: this section has no ]"),
            ("[a]\n  include b.fio\n", "x:2:3: include is not supported"),
            ("[a]\nbs=${BS}\n", "x:2:1: variables such as ${NAME} are not supported"),
            ("[a]\nsize=8*$mb_memory", "x:2:1: variables such as ${NAME} are not supported"),
        ] {
            assert_eq!(read(text), Err(said.to_owned()), "{text}");
        }
    }
}
