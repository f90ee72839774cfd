//! fio's job format as text: sections and what they set. What a setting means is not known here.
//!
//! As fio 3.33 reads it, tried out:
//!   1. a line ends at the first `;` or `#`, whatever stands around it;
//!   2. `[NAME]` begins a section, whose name goes to the first `]`; nothing is set before the first;
//!   3. `NAME=VALUE` sets, and `NAME` alone does too; names are case sensitive;
//!   4. `[global]` sets for all sections that follow; a later one adds to it, and what is set twice holds as it was
//!      set last. A section of a name that was there is another section.
//!
//! fio takes a line of `[NAME` for a section without a name; here it is refused, as are files that it includes and
//! variables that it replaces: what they are is known elsewhere.

use std::ops::Range;

use super::super::fault::JobFault;
use super::super::text::Text;

/// Something that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<'a> {
    /// What.
    pub name: &'a str,
    /// To what, where that was said.
    pub value: Option<&'a str>,
    /// Where both stand in the text.
    pub span: Range<usize>,
}

/// A section, with what it inherits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where that stands in the text.
    pub span: Range<usize>,
    /// What holds for it, each name once, in the order in which it is first set.
    pub settings: Vec<Setting<'a>>,
}

/// The section that others inherit from.
const GLOBAL: &str = "global";

/// The most sections. Ours: each becomes a load, and no run of ten thousand loads would end.
const MOST_SECTIONS: usize = 10_000;

/// The most settings of a section. Ours: twice as many as fio 3.33 has options (`fio --cmdhelp` lists some 250).
const MOST_SETTINGS: usize = 512;

/// The most settings that all sections inherit: each section has a copy of those of `[global]`, and a file of 50 KB could
/// ask for a gigabyte. Ours: 40 for each of 10,000 sections, about 20 MB.
const MOST_INHERITED: usize = 40 * MOST_SECTIONS;

/// Its sections.
pub fn sections(text: &Text) -> Result<Vec<Section<'_>>, JobFault> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut global: Vec<Setting<'_>> = Vec::new();
    let mut is_global = None;
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
        let spot = || text.spot(span.clone());
        // 2
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, _)) = rest.split_once(']') else { return Err(JobFault::NoSection(spot())) };
            let name = name.trim();
            is_global = Some(name == GLOBAL);
            if name != GLOBAL {
                if sections.len() == MOST_SECTIONS {
                    return Err(JobFault::TooMany { at: spot(), what: "sections", most: MOST_SECTIONS });
                }
                inherited += global.len();
                if inherited > MOST_INHERITED {
                    let what = "settings inherited from [global]";
                    return Err(JobFault::TooMany { at: spot(), what, most: MOST_INHERITED });
                }
                sections.push(Section { name, span, settings: global.clone() });
            }
            continue;
        }
        if line == "include" || line.starts_with("include ") || line.starts_with("include\t") {
            return Err(JobFault::Includes(spot()));
        }
        if line.contains("${") || line.contains("$pagesize") || line.contains("$mb_memory") || line.contains("$ncpus") {
            return Err(JobFault::Variable(spot()));
        }
        // 3
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (line, None),
        };
        let setting = Setting { name, value, span: span.clone() };
        // 4
        match (is_global, sections.last_mut()) {
            (Some(true), _) => set(&mut global, setting),
            (Some(false), Some(section)) => set(&mut section.settings, setting),
            _ => return Err(JobFault::OutsideSections(spot())),
        }
        let set = if is_global == Some(true) { Some(&global) } else { sections.last().map(|last| &last.settings) };
        if set.is_some_and(|settings| settings.len() > MOST_SETTINGS) {
            return Err(JobFault::TooMany { at: spot(), what: "settings of a section", most: MOST_SETTINGS });
        }
    }
    Ok(sections)
}

/// Sets it, over what was set before.
fn set<'a>(settings: &mut Vec<Setting<'a>>, setting: Setting<'a>) {
    match settings.iter_mut().find(|known| known.name == setting.name) {
        Some(known) => *known = setting,
        None => settings.push(setting),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, String> {
        let text = Text::new("x", text);
        let sections = sections(&text).map_err(|fault| fault.to_string())?;
        let words = |setting: &Setting<'_>| format!("{}={}", setting.name, setting.value.unwrap_or("-"));
        Ok(sections
            .iter()
            .map(|section| (section.name.to_owned(), section.settings.iter().map(words).collect::<Vec<_>>().join(" ")))
            .collect())
    }

    #[test]
    fn a_section_inherits_what_global_sections_before_it_set() {
        let text = "; of fio\n[global]\nbs=4k\n  rw = read ; or write\n[a]\nbs=8k # larger\ngroup_reporting\n[global]\r\nbs=1k\n\
                    [a]\n\tdirect=1\r\n";
        let expected = [("a", "bs=8k rw=read group_reporting=-"), ("a", "bs=1k rw=read direct=1")];
        assert_eq!(read(text), Ok(expected.map(|(name, set)| (name.to_owned(), set.to_owned())).to_vec()));
        assert_eq!(read(""), Ok(Vec::new()));
    }

    #[test]
    fn all_that_sections_inherit_is_bounded() {
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
    fn what_cannot_be_read_here_is_refused_at_its_place() {
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
