//! Takes each setting of a fio section once, reads its value, and lists the settings that are not converted.

use std::collections::BTreeSet;

use crate::error::JobError;
use crate::load_spec::KEYS;
use crate::load_words::PatternName;
use crate::source_span::Source;

use super::limits::Limits;
use super::sections::{Section, Setting};
use super::units::{bytes, whole};
use super::unsupported::{NO_SUCH_OPTION, reason, without_effect};
use super::words;

/// A fio job that is being converted.
pub(super) struct Conversion<'a> {
    pub(super) text: &'a Source,
    /// The seed: a job file has one for all workloads.
    pub(super) seed: Option<u64>,
    /// Differences from the fio job, by place.
    pub(super) differences: BTreeSet<(usize, String)>,
}

/// The settings of a section that were not taken yet.
pub(super) struct RemainingSettings<'a> {
    settings: Vec<Setting<'a>>,
}

impl<'a> RemainingSettings<'a> {
    /// All settings of a section.
    pub(super) fn new(section: &Section<'a>) -> RemainingSettings<'a> {
        RemainingSettings { settings: section.settings.clone() }
    }

    /// The setting with this name. It is not removed.
    pub(super) fn find(&self, name: &str) -> Option<Setting<'a>> {
        self.settings.iter().rfind(|setting| setting.name == name).cloned()
    }

    /// The last setting with one of these names. All of them are removed.
    pub(super) fn take(&mut self, names: &[&str]) -> Option<Setting<'a>> {
        let is_meant = |setting: &Setting<'_>| names.contains(&setting.name);
        let all = self.settings.iter().filter(|setting| is_meant(setting));
        let last = all.max_by_key(|setting| setting.span.start).cloned();
        self.settings.retain(|setting| !is_meant(setting));
        last
    }
}

/// The reason why nothing has taken this setting. A key of diskperf is left if the pattern does not use it.
fn why_left(name: &str) -> &'static str {
    let is_key = name == words::WRITES || KEYS.all().any(|key| key.fio.contains(&name));
    reason(name).unwrap_or(if is_key { "it has no effect on this pattern" } else { NO_SUCH_OPTION })
}

impl Conversion<'_> {
    /// A setting may have values for reads, writes and trims. Returns the one for the pattern; for a mix, that of the
    /// reads. In fio too, an empty value next to a comma is the usual one, and without a comma, all have one value.
    pub(super) fn directed<T: Clone + PartialEq>(
        &mut self,
        setting: &Setting<'_>,
        pattern: PatternName,
        read: impl Fn(&str) -> Option<T>,
        usual: T,
        (what, hint): (&'static str, &'static str),
    ) -> Result<T, JobError> {
        let mut values = setting.value.unwrap_or_default().split(',').map(str::trim);
        let first = values.next().unwrap_or_default();
        let second = values.next();
        let value = |text: &str| match text {
            "" if second.is_some() => Ok(usual.clone()),
            text => read(text).ok_or_else(|| self.bad(setting, what, hint)),
        };
        let (reads, writes) = (value(first)?, value(second.unwrap_or(first))?);
        match pattern {
            PatternName::Write | PatternName::Randwrite | PatternName::Commit => Ok(writes),
            PatternName::Randrw if reads != writes => {
                self.pass(setting, "diskperf uses the value of the reads for reads and writes");
                Ok(reads)
            }
            _ => Ok(reads),
        }
    }

    /// The limits of a pattern.
    pub(super) fn limits(&self, setting: &Setting<'_>, pattern: PatternName) -> Result<Limits, JobError> {
        let limits = Limits::parse(setting.value.unwrap_or_default(), |text| bytes(text, setting.base));
        let limits = limits.map(|limits| limits.used(pattern));
        limits.ok_or_else(|| self.bad(setting, "is not a rate", "as in rate_iops=1000"))
    }

    /// A whole number.
    pub(super) fn count(&self, rest: &mut RemainingSettings<'_>, names: &[&str]) -> Result<Option<u32>, JobError> {
        rest.take(names).map(|setting| self.number(&setting)).transpose()
    }

    /// The value of a setting, a whole number.
    pub(super) fn number(&self, setting: &Setting<'_>) -> Result<u32, JobError> {
        let read = |text: &str| whole(text).and_then(|number| u32::try_from(number).ok());
        self.value(setting, read, "is not a whole number")
    }

    /// True if a setting is on. A setting without a value is on.
    pub(super) fn switch(&self, rest: &mut RemainingSettings<'_>, name: &str) -> Result<Option<bool>, JobError> {
        let Some(setting) = rest.take(&[name]) else { return Ok(None) };
        match setting.value {
            None | Some("1") => Ok(Some(true)),
            Some("0") => Ok(Some(false)),
            Some(_) => Err(self.bad(&setting, "is not a switch", "use 1 or 0")),
        }
    }

    pub(super) fn value<T>(
        &self,
        setting: &Setting<'_>,
        read: impl Fn(&str) -> Option<T>,
        what: &'static str,
    ) -> Result<T, JobError> {
        let value = read(setting.value.unwrap_or_default());
        value.ok_or_else(|| self.bad(setting, what, "use a whole number, as in 4k or 30"))
    }

    /// Lists the settings that nothing has taken, except those that change nothing.
    pub(super) fn pass_rest(&mut self, rest: RemainingSettings<'_>) {
        for setting in rest.settings {
            let is_needless = without_effect(setting.name).is_some()
                || matches!(setting.name, "stonewall" | "wait_for_previous" | words::KB_BASE)
                || setting.name == words::INVALIDATE && setting.value != Some("0")
                || setting.value == Some("0") && ["verify", "zero_buffers", words::OVERWRITE].contains(&setting.name);
            if !is_needless {
                self.pass(&setting, why_left(setting.name));
            }
        }
    }

    /// Lists a setting that is not converted.
    pub(super) fn pass(&mut self, setting: &Setting<'_>, reason: &str) {
        let value = setting.value.map_or_else(String::new, |value| format!("={value}"));
        self.differs(setting.span.start, format!("{}{value}: not converted: {reason}", setting.name));
    }

    /// Lists a difference from the fio job.
    pub(super) fn differs(&mut self, at: usize, what: String) {
        self.differences.insert((at, what));
    }

    /// The error for a value that cannot be read.
    pub(super) fn bad(&self, setting: &Setting<'_>, why: &str, hint: &str) -> JobError {
        let (key, why) = (setting.name.to_owned(), format!("{:?} {why}", setting.value.unwrap_or_default()));
        JobError::BadValue { at: self.text.span(setting.span.clone()), key, why, hint: hint.to_owned() }
    }

    /// The error for a setting that diskperf does not support, so that its section is left out.
    pub(super) fn unsupported(&self, setting: &Setting<'_>, what: &str, hint: &'static str) -> JobError {
        JobError::Unsupported { at: self.text.span(setting.span.clone()), what: what.to_owned(), hint }
    }
}
