//! Aging: a file system of our own is filled and changed before the first round. Used file systems may rank differently
//! from new ones.

use std::path::Path;
use std::time::Instant;

use kernel::observe::mount::Place;
use kernel::{PathFault, Posix, Station, Workspace};
use stats::Aged;
use units::Bytes;
use workload::{Aging, CachePadded, OpKind, Program, Tally, World, programs};

use crate::error::CampaignError;
use crate::events::Event;
use crate::rounds::deadline::since;
use crate::signals::Stop;
use crate::targets::{AgingSpec, Site, Target};

/// The largest file is 1/1024 of the file system, within these bounds in bytes, so that there are always some thousand
/// files. Chosen.
const PART: u64 = 1024;
const LARGEST: (u64, u64) = (256 << 10, 64 << 20);

impl AgingSpec {
    /// Ages all targets; refuses if one is not a file system of our own, or would have to be filled again and again.
    pub fn ask_of(self, targets: &mut [Target]) -> Result<(), CampaignError> {
        for (index, target) in targets.iter().enumerate() {
            let why = match &target.site {
                Site::Image { .. } | Site::Volume(_) => None,
                Site::Directory { .. } => Some("diskperf never fills a directory of yours, only image: and new:"),
                Site::File { .. } | Site::Device(_) => {
                    Some("diskperf does not create a file system for it, as for image: and new:")
                }
                Site::Simulated(_) => Some("simulated file systems do not age"),
            };
            let is_shared = targets[..index].iter().any(|other| other.overwrites_the_same(target));
            let why = why.or(is_shared.then_some(
                "it takes turns with another target on its device, and would be filled again in every round",
            ));
            if let Some(why) = why {
                return Err(CampaignError::NotAged { target: target.name.clone(), why });
            }
        }
        for target in targets {
            target.aging = Some(self);
            if let Site::Image { image, .. } = &mut target.site {
                image.aging = Some(self);
            }
        }
        Ok(())
    }

    /// Fills and changes the mounted file system. `needed` bytes must be left for the tests. The files stay.
    pub fn apply(
        self,
        (target, path): (&Target, &Path),
        needed: Bytes,
        stop: &Stop,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Aged, CampaignError> {
        let unreadable = |source| PathFault::Unreadable { path: path.to_owned(), source };
        let place = Place::under(path).map_err(unreadable)?;
        let level = self.level(place.total_bytes, place.used_bytes);
        let left = Bytes(place.free_bytes.unwrap_or(u64::MAX).saturating_sub(level));
        self.check((Bytes(place.total_bytes), left), needed)?;
        let aging = Aging { level, churns: self.churns, largest: largest(place.total_bytes), seed: self.seed };
        let Program { prepare, mut phases, largest_call, .. } = programs::aging::aging(aging);
        let age = phases.remove(0);
        let AgingSpec { fill, churns, .. } = self;
        notify(Event::Aging { target: &target.name, fill, churns, bytes: Bytes(age.amount) });
        let began = Instant::now();
        let station = Station { workspace: Some(Workspace::inside(path)?), given: Vec::new() };
        let mut world = Posix::new(vec![station], largest_call, self.seed, stop.flag())?;
        let mut tally = CachePadded(Tally::default());
        for stream in [prepare, age.steps] {
            world.run(&mut [CachePadded(stream)], std::slice::from_mut(&mut tally))?;
            if let Some(failure) = tally.0.failure {
                return Err(CampaignError::Op { path: path.to_owned(), failure });
            }
        }
        let (files, deleted) = (world.tree_counts(0)?.files, tally.0.count(OpKind::Unlink));
        world.stay();
        let aged = Aged {
            fill: self.fill,
            churns: self.churns,
            seed: self.seed,
            files_made: files + deleted,
            files_deleted: deleted,
            written_bytes: tally.0.bytes_written,
            elapsed_s: since(began).as_secs_f64(),
        };
        notify(Event::Aged { target: &target.name, aged: &aged });
        Ok(aged)
    }
}

/// The largest file of a file system of `bytes` bytes.
fn largest(bytes: u64) -> u32 {
    (bytes / PART).clamp(LARGEST.0, LARGEST.1) as u32
}
