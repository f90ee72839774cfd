//! Names the sections of a fio job, and groups those that fio runs at the same time.

use std::collections::{BTreeMap, BTreeSet};

use units::Nanos;
use workload::programs::load::Load;

use crate::error::JobError;
use crate::groups;
use crate::job_file::{ALL, LONGEST_NAME, is_name};
use crate::load_spec::LoadSpec;
use crate::load_words::Time;
use crate::queue_depth::RingLimits;

use super::section_reader::Conversion;
use super::sections::{Section, Setting, is_global};

/// A section as a load.
pub(super) struct SectionLoad<'a> {
    /// Its name as a load.
    pub(super) name: String,
    /// The section.
    pub(super) section: &'a Section<'a>,
    /// The load.
    pub(super) spec: LoadSpec,
    /// The setting of its start, and the time.
    pub(super) delay: Option<(Setting<'a>, Nanos)>,
    /// The number of sections up to this one that wait for those before them.
    pub(super) turn: usize,
    /// The group with which it runs at the same time.
    pub(super) group: Option<String>,
}

impl Conversion<'_> {
    /// Gives each turn with several loads a group, unless they cannot run at the same time.
    pub(super) fn group(
        &mut self,
        loads: &mut [SectionLoad<'_>],
        names: &mut Names,
        limits: RingLimits,
    ) -> Result<(), JobError> {
        let is_one = loads.windows(2).all(|two| two[0].turn == two[1].turn);
        for turn in loads.chunk_by_mut(|one, next| one.turn == next.turn) {
            let host = limits.on_any_machine();
            let all = turn.iter().map(|load| load.spec.load(&host).map(|(load, _)| load));
            let all: Vec<Load> = all.collect::<Result<_, _>>()?;
            let conflict = groups::conflict(&all.iter().collect::<Vec<_>>());
            if let Some((_, key, why, _)) = &conflict {
                let what = format!("diskperf runs it after the section before it: {key}: {why}");
                for later in turn.iter().skip(1) {
                    self.differs(later.section.span.start, format!("[{}]: {what}", later.section.name));
                }
            }
            if turn.len() > 1 && conflict.is_none() {
                self.ramps(turn);
                let name =
                    if is_one && names.taken.insert(ALL.to_owned()) { ALL.to_owned() } else { names.unique("group") };
                turn.iter_mut().for_each(|load| load.group = Some(name.clone()));
            } else {
                let delays = turn.iter_mut().filter_map(|load| load.delay.take());
                let delays: Vec<Setting<'_>> = delays.map(|(setting, _)| setting).collect();
                let reason = "only sections that run at the same time have a start";
                delays.iter().for_each(|setting| self.pass(setting, reason));
            }
        }
        Ok(())
    }

    /// Lists the sections of a group whose ramp is shorter than the longest: all loads of a group have one warm-up.
    fn ramps(&mut self, turn: &[SectionLoad<'_>]) {
        let ramp = |load: &SectionLoad<'_>| load.spec.warmup.map(|Time(time)| time);
        let Some(longest) = turn.iter().filter_map(ramp).max() else { return };
        for SectionLoad { section, .. } in turn.iter().filter(|load| ramp(load) < Some(longest)) {
            let what = format!("diskperf runs it for {}, the longest ramp of its group", Time(longest));
            self.differs(section.span.start, format!("[{}]: ramp_time: {what}", section.name));
        }
    }
}

/// The names of the workloads so far. For names that occurred again, `next` is the next number to try.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    next: BTreeMap<String, u32>,
}

impl Names {
    /// The name of a section, with other characters replaced, and with a number if it occurred before.
    pub(super) fn name(&mut self, section: &Section<'_>) -> String {
        let plain: String = section
            .name
            .chars()
            .map(|c| if is_name(&format!("x{c}")) { c } else { '-' })
            .take(LONGEST_NAME - ROOM_FOR_NUMBER)
            .collect();
        match plain.trim_matches('-') {
            "" => self.unique("load"),
            // `export` would have to give it another name.
            global if is_global(global) => {
                self.unique(&format!("load-{global}").chars().take(LONGEST_NAME - ROOM_FOR_NUMBER).collect::<String>())
            }
            plain => self.unique(plain),
        }
    }

    /// This name, with a number if it occurred before.
    fn unique(&mut self, plain: &str) -> String {
        if self.taken.insert(plain.to_owned()) {
            return plain.to_owned();
        }
        let next = self.next.entry(plain.to_owned()).or_insert(2);
        loop {
            let name = format!("{plain}-{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The length of `-10000`: a fio job has at most 10,000 sections.
const ROOM_FOR_NUMBER: usize = 6;
