//! The hosts of a run. On several hosts, `diskperf-mpi` starts one diskperf per host and passes their messages. The
//! first host decides, stores and prints; the others follow its orders (`follower`).
//!
//! Policy:
//!   1. All hosts meet at the same steps of an execution. At each meeting, a host reports whether it failed or was told
//!      to stop. If one did, all hosts end the execution there, and send their results to the first host.
//!   2. A host that a signal suspended makes all hosts repeat the execution.
//!   3. If a host is gone, the run ends. Finished rounds stay.

pub mod fault;
pub mod follower;
pub mod hello;
mod limits;
pub mod order;
pub mod same_hosts;
mod sharing;
mod wire;

use std::collections::BTreeMap;
use std::env;
use std::thread;
use std::time::Duration;

use runner::peers::{Agreed, Start};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stats::HostInfo;
use units::{Exit, Nanos};
use workload::FolderForOthers;

use crate::error::CampaignError;
use crate::plan::{Plan, PlannedSizing};
use crate::request::RunRequest;
use crate::request::resolved::Resolved;
use crate::rounds::driver::Performed;
use crate::signals::Stop;
use crate::targets::Target;
use fault::PeerFault;
use hello::Hello;
use order::{Agreement, Assignment, Folder, Order, Reply, Task};
use wire::{ToldError, Wire, WireFault};

/// The variable with the rank of this host, the number of ranks, and the descriptors of two pipes.
const VARIABLE: &str = kernel::PEERS_VARIABLE;

/// A wait for a moment sleeps until this long before it, and then reads the clock again and again. The timer slack of a
/// Linux thread is 50 us (prctl(2), PR_SET_TIMERSLACK).
const AWAKE: Nanos = Nanos(200_000);

/// The rank of this process, if `diskperf-mpi` started it. The first host has rank 0.
pub fn rank() -> Option<usize> {
    env::var(VARIABLE).ok()?.split(':').next()?.parse().ok()
}

/// Tells the first host an error that this one has before it can follow. Returns false if this host is the first one,
/// or alone, and prints its errors itself.
pub fn tell(message: &str, hint: Option<String>, exit: Exit) -> bool {
    let wire = || wire(&env::var(VARIABLE).ok()?).ok().filter(|(_, rank)| *rank > 0);
    let error = ToldError { exit, message: message.to_owned(), hint };
    wire().is_some_and(|(mut wire, _)| wire.tell(&error).is_ok())
}

/// The conversation that this value of the variable describes, and the rank of this host.
fn wire(value: &str) -> Result<(Wire, usize), PeerFault> {
    let bad = || PeerFault::BadVariable { variable: VARIABLE, value: value.to_owned() };
    let numbers: Option<Vec<i32>> = value.split(':').map(|number| number.parse().ok()).collect();
    let [rank, _, from, to] = numbers.unwrap_or_default()[..] else { return Err(bad()) };
    let pipe = |descriptor| kernel::inherited_pipe(descriptor).map_err(|_| bad());
    Ok((Wire::new(pipe(from)?, pipe(to)?), usize::try_from(rank).map_err(|_| bad())?))
}

/// The hosts of a run.
#[derive(Debug, Default)]
pub enum Peers {
    /// There are no other hosts: no messages are sent.
    #[default]
    Alone,
    /// Several hosts.
    Piped(Box<Piped>),
}

/// The state in which a host comes to a meeting. The highest one counts for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It goes on.
    Fine,
    /// It was suspended, so all repeat the execution.
    Suspended,
    /// It was told to stop.
    Stopped,
    /// It failed.
    Failed,
}

/// This host among several.
#[derive(Debug)]
pub struct Piped {
    wire: Wire,
    rank: usize,
    hosts: Vec<Hello>,
    /// The standing because of which the hosts left this execution; `None` while they go on.
    left: Option<Standing>,
    fault: Option<PeerFault>,
    /// Names of the targets that all hosts share.
    pub(crate) shared: Vec<String>,
    /// True if each host reads the files that the next one wrote.
    reads_others: bool,
}

impl Peers {
    /// The hosts that `diskperf-mpi` connects with this one. Refuses hosts that cannot measure together.
    pub fn connect() -> Result<Peers, PeerFault> {
        match env::var(VARIABLE) {
            Err(_) => Ok(Peers::Alone),
            Ok(value) => Ok(Peers::Piped(Box::new(Piped::connect(&value)?))),
        }
    }

    /// The descriptions of all hosts; empty if there is only this one.
    pub fn infos(&self) -> Vec<HostInfo> {
        match self {
            Peers::Alone => Vec::new(),
            Peers::Piped(piped) => hello::infos(&piped.hosts),
        }
    }

    /// Names of the targets that all hosts share.
    pub fn shared(&self) -> Vec<String> {
        match self {
            Peers::Alone => Vec::new(),
            Peers::Piped(piped) => piped.shared.clone(),
        }
    }

    /// The request as this host runs it: `%h` in a path is its name.
    pub fn on_this_host(&self, request: &RunRequest) -> Vec<crate::targets::TargetArgument> {
        match self {
            Peers::Alone => request.targets.clone(),
            Peers::Piped(piped) => {
                request.targets.iter().map(|target| target.on_host(&piped.hosts[piped.rank].name)).collect()
            }
        }
    }

    /// Refuses requests that one host alone can measure, before any host is asked.
    pub fn check(&self, request: &RunRequest, targets: &[Target], plan: &Plan) -> Result<(), PeerFault> {
        match self {
            Peers::Piped(piped) if !request.read_others || piped.hosts.len() > 1 => {
                limits::check(request, targets, plan)
            }
            _ if request.read_others => Err(PeerFault::NoOthers),
            _ => Ok(()),
        }
    }

    /// The first host tells the others its request, and all compare their plans. The sizes then fit on every host.
    /// Returns warnings about workloads that some hosts run in another way.
    pub fn assign(
        &mut self,
        (resolved, targets): (&Resolved, &[Target]),
        (is_dry, resumed): (bool, Option<&str>),
        plan: &mut Plan,
    ) -> Result<Vec<String>, CampaignError> {
        let Peers::Piped(piped) = self else { return Ok(Vec::new()) };
        let request = &resolved.request;
        let (resumed, folder) = (resumed.map(str::to_owned), Folder::here()?);
        piped.reads_others = request.read_others;
        piped.say_all(&Some(Assignment { request: request.clone(), is_dry, resumed, folder }))?;
        Ok(piped.compare((resolved.tests.warnings(), targets), plan)?)
    }

    /// Tells the other hosts the label of private folders, by which `resume` finds those of killed processes.
    pub fn label(&mut self, label: Option<&str>) -> Result<(), PeerFault> {
        match self {
            Peers::Alone => Ok(()),
            Peers::Piped(piped) => piped.say_all(&label.map(str::to_owned)).map(drop),
        }
    }

    /// Finds out which targets all hosts share. Refuses one that only some of them share.
    pub fn compare_targets(&mut self, targets: &[Target], plan: &mut Plan) -> Result<(), CampaignError> {
        match self {
            Peers::Alone => Ok(()),
            Peers::Piped(piped) => piped.compare_targets(targets, plan),
        }
    }

    /// Waits until all hosts have prepared their targets.
    pub fn prepared(&mut self) -> Result<(), PeerFault> {
        match self {
            Peers::Alone => Ok(()),
            Peers::Piped(piped) => piped.agree(Ok(())),
        }
    }

    /// Orders an execution on all hosts. Nothing happens if this host is alone.
    pub fn order(&mut self, task: Task) -> Result<(), PeerFault> {
        match self {
            Peers::Alone => Ok(()),
            Peers::Piped(piped) => piped.order(Order::Perform(task)),
        }
    }

    /// Ends an execution: adds the results of the other hosts to that of this one. Stops the run if another host was
    /// told to stop, or is gone.
    pub fn collect(&mut self, own: Performed, stop: &Stop) -> Performed {
        match self {
            Peers::Alone => own,
            Peers::Piped(piped) => piped.collect(own, stop),
        }
    }

    /// Orders all hosts to remove everything.
    pub fn finish(&mut self) -> Result<(), PeerFault> {
        match self {
            Peers::Alone => Ok(()),
            Peers::Piped(piped) => piped.order(Order::End).and_then(|()| piped.agree(Ok(()))),
        }
    }

    /// The reason why the hosts cannot go on, with the moment of the run in words.
    pub fn fault(&self, during: impl FnOnce() -> String) -> Option<PeerFault> {
        let Peers::Piped(piped) = self else { return None };
        Some(match piped.fault.clone()? {
            PeerFault::Gone { host, how, .. } => PeerFault::Gone { host, how, during: Some(during()) },
            other => other,
        })
    }

    /// The last meeting of an attempt at an execution, unless the hosts left it already. Returns true if all hosts
    /// repeat it.
    pub fn leave(&mut self, standing: Standing) -> bool {
        match self {
            Peers::Alone => standing == Standing::Suspended,
            Peers::Piped(piped) => piped.leave(standing),
        }
    }
}

impl runner::peers::Peers for Peers {
    fn meet(&mut self) -> bool {
        match self {
            Peers::Alone => true,
            Peers::Piped(piped) => piped.meet(Standing::Fine),
        }
    }

    fn reads_others(&self) -> bool {
        matches!(self, Peers::Piped(piped) if piped.reads_others)
    }

    fn next_folders(&mut self, own: Vec<FolderForOthers>) -> Option<Vec<FolderForOthers>> {
        match self {
            Peers::Alone => Some(own),
            Peers::Piped(piped) => piped.next_folders(&own),
        }
    }

    fn agree_on_start(&mut self) -> Agreed {
        let Peers::Piped(piped) = self else { return Agreed::Alone };
        if !piped.meet(Standing::Fine) {
            return Agreed::Left;
        }
        match piped.wire.start() {
            Ok(start) => Agreed::At(start),
            Err(fault) => {
                piped.fail(fault);
                Agreed::Left
            }
        }
    }

    fn wait_for(&self, start: Start) {
        let left = || start.moment.saturating_sub(kernel::now().since_zero());
        thread::sleep(Duration::from_nanos(left().saturating_sub(AWAKE).0));
        while left() > Nanos::ZERO {
            std::hint::spin_loop();
        }
    }
}

impl Piped {
    /// Connects as the variable says, and introduces this host to the others.
    fn connect(value: &str) -> Result<Piped, PeerFault> {
        let (wire, rank) = wire(value)?;
        Piped::introduce(wire, rank)
    }

    /// Exchanges descriptions with all hosts.
    fn introduce(wire: Wire, rank: usize) -> Result<Piped, PeerFault> {
        let mut piped =
            Piped { wire, rank, hosts: Vec::new(), left: None, fault: None, shared: Vec::new(), reads_others: false };
        let start = piped.wire.start().map_err(|fault| piped.fail(fault))?;
        let this = Hello { moment: start.moment.0, uncertainty: start.uncertainty.0, ..Hello::this() };
        piped.hosts = piped.say_all(&this)?;
        hello::check(&piped.hosts)?;
        if rank < piped.hosts.len() { Ok(piped) } else { Err(PeerFault::Unknown(format!("rank {rank}"))) }
    }

    /// Keeps the first fault, and leaves the execution.
    fn fail(&mut self, fault: WireFault) -> PeerFault {
        let fault = match fault {
            WireFault::Closed => PeerFault::Ended,
            WireFault::Unknown(line) => PeerFault::Unknown(line),
            WireFault::Gone(host, how) => PeerFault::Gone { host, how, during: None },
            WireFault::Failed(host, ToldError { exit, message, hint }) => {
                PeerFault::OnHost { host, message, hint, exit }
            }
        };
        self.left = Some(Standing::Failed);
        self.fault.get_or_insert(fault).clone()
    }

    /// Sends this message to all hosts, and returns the messages of all hosts.
    fn say_all<T: Serialize + DeserializeOwned>(&mut self, message: &T) -> Result<Vec<T>, PeerFault> {
        let said = self.wire.all(&text(message)).map_err(|fault| self.fail(fault))?;
        said.iter().map(|message| parse(message)).collect()
    }

    /// Compares the results of a step. Returns the error of the first host that has one. If this host has one, the
    /// caller knows more about it.
    fn agree(&mut self, own: Result<(), &CampaignError>) -> Result<(), PeerFault> {
        let problem =
            own.err().map(|error| Problem { message: error.to_string(), hint: error.hint(), exit: error.exit() as u8 });
        let all = self.say_all(&problem)?;
        let others = all.into_iter().zip(&self.hosts);
        match others.filter_map(|(problem, host)| Some((problem?, host))).next() {
            None => Ok(()),
            Some((Problem { message, hint, exit }, host)) => {
                let exit = Exit::ALL.into_iter().find(|known| *known as u8 == exit).unwrap_or(Exit::Failed);
                Err(PeerFault::OnHost { host: host.name.clone(), message, hint, exit })
            }
        }
    }

    /// Compares the plans of all hosts, and limits the sizes to those that all have room for.
    /// Returns the warnings that not all hosts have, with the names of those that have them.
    fn compare(
        &mut self,
        (warnings, targets): (&[String], &[Target]),
        plan: &mut Plan,
    ) -> Result<Vec<String>, PeerFault> {
        self.agree(Ok(()))?;
        let all = self.say_all(&Agreement { warnings: warnings.to_vec(), ..agreement(targets, plan) })?;
        let (first, warnings) = (&all[0].tests, self.of_some(&all));
        if let Some((other, host)) = all.iter().zip(&self.hosts).find(|(other, _)| other.tests != *first) {
            let is_other = |(own, other): &(&String, &String)| own != other;
            let differs = first.iter().zip(&other.tests).find(is_other);
            let mut differs = differs.map_or_else(
                || "the numbers of tests differ".to_owned(),
                |(own, other)| format!("{own} on {}, {other} on {}", self.hosts[0].name, host.name),
            );
            // The warnings may name the cause: a host without io_uring runs another test.
            warnings.iter().for_each(|warning| differs += &format!("; {warning}"));
            return Err(PeerFault::Plans(differs));
        }
        let of_first = &all[0].storage;
        for (other, host) in all.iter().zip(&self.hosts) {
            let all = of_first.iter().zip(&other.storage).zip(targets);
            if let Some(((own, other), target)) = all.into_iter().find(|((own, other), _)| own != other) {
                let (name, first) = (&target.name, &self.hosts[0].name);
                let differs = format!("{name} is {own} on {first}, but {other} on {}", host.name);
                return Err(PeerFault::Storage(differs));
            }
        }
        let smallest = all.iter().filter_map(|one| one.largest).reduce(|one, other| one.min(&other));
        if let (PlannedSizing::FitTime(fit), Some(smallest)) = (&mut plan.sizing, smallest) {
            fit.limits.largest = smallest;
        }
        // A host may not measure the ceiling while others still run.
        plan.options.ceiling = false;
        Ok(warnings)
    }

    /// The warnings that only some hosts have, with the names of these hosts.
    fn of_some(&self, all: &[Agreement]) -> Vec<String> {
        let mut warned: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (one, host) in all.iter().zip(&self.hosts) {
            one.warnings.iter().for_each(|warning| warned.entry(warning).or_default().push(&host.name));
        }
        let partial = warned.into_iter().filter(|(_, names)| names.len() < self.hosts.len());
        partial.map(|(warning, names)| format!("only on {}: {warning}", names.join(", "))).collect()
    }

    /// Finds the targets that all hosts share, and divides their room and the allowed bytes by the number of hosts.
    fn compare_targets(&mut self, targets: &[Target], plan: &mut Plan) -> Result<(), CampaignError> {
        let made = sharing::folders(targets);
        self.agree(made.as_ref().map(|_| ()))?;
        let (folders, directories) = made?;
        let names = self.say_all(&sharing::names(&folders))?;
        let mut seen = Vec::new();
        for (index, directory) in directories.iter().enumerate() {
            let names: Vec<&str> = names.iter().filter_map(|host| Some(host.get(index)?.as_str())).collect();
            seen.push(sharing::seen(directory, &names));
        }
        let seen = self.say_all(&seen)?;
        // All hosts have looked for the private folders, so they can be removed.
        drop(folders);
        let hosts: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        let mut fits = Ok(());
        for (index, target) in targets.iter().enumerate() {
            let of_target: Vec<Vec<bool>> = seen.iter().filter_map(|host| host.get(index).cloned()).collect();
            if sharing::decide(&target.name, &hosts, &of_target)? {
                self.shared.push(target.name.clone());
                let needed = plan.space(index).saturating_mul(self.hosts.len() as u64);
                fits = fits.and(target.check_room(needed));
            }
        }
        self.agree(fits.as_ref().copied())?;
        fits?;
        let is_shared = |target: &&Target| self.shared.contains(&target.name);
        if self.reads_others
            && let Some(target) = targets.iter().find(|target| !is_shared(target))
        {
            return Err(PeerFault::NotShared(target.name.clone()).into());
        }
        if let PlannedSizing::FitTime(fit) = &mut plan.sizing
            && !self.shared.is_empty()
        {
            let hosts = self.hosts.len() as u64;
            fit.limits.largest = fit.limits.largest.divided(hosts, &fit.limits.smallest);
            fit.limits.written = fit.limits.written.map(|bytes| bytes / hosts);
        }
        Ok(())
    }

    fn order(&mut self, order: Order) -> Result<(), PeerFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.left = None;
        self.say_all(&Some(order)).map(drop)
    }

    fn meet(&mut self, own: Standing) -> bool {
        self.meet_saying(own, &[]).is_some()
    }

    /// Meets all hosts, and sends them these bytes. Returns the bytes of all hosts; `None` if a host cannot go on.
    fn meet_saying(&mut self, own: Standing, words: &[u8]) -> Option<Vec<Vec<u8>>> {
        if self.left.is_some() {
            return None;
        }
        let said = match self.wire.all(&[&[own as u8], words].concat()) {
            Ok(said) => said,
            Err(fault) => {
                self.fail(fault);
                return None;
            }
        };
        let worst = said.iter().filter_map(|said| said.first().copied()).max().unwrap_or(0);
        let all = [Standing::Fine, Standing::Suspended, Standing::Stopped];
        let all = all.into_iter().find(|standing| *standing as u8 == worst).unwrap_or(Standing::Failed);
        self.left = Some(all).filter(|all| *all != Standing::Fine);
        let words = |said: &Vec<u8>| said.get(1..).unwrap_or_default().to_vec();
        self.left.is_none().then(|| said.iter().map(words).collect())
    }

    /// Tells all hosts the folders of this one. Returns those of the next host; the first host is next to the last one.
    fn next_folders(&mut self, own: &[FolderForOthers]) -> Option<Vec<FolderForOthers>> {
        let said = self.meet_saying(Standing::Fine, &text(&own))?;
        let next = said.get((self.rank + 1) % self.hosts.len()).map(|said| parse::<Vec<FolderForOthers>>(said));
        match next {
            Some(Ok(folders)) if folders.len() == own.len() => Some(folders),
            _ => {
                self.fail(WireFault::Unknown("no folders".to_owned()));
                None
            }
        }
    }

    fn leave(&mut self, standing: Standing) -> bool {
        self.meet(standing);
        let repeats = self.left == Some(Standing::Suspended);
        if repeats {
            self.left = None;
        }
        repeats
    }

    /// Sends this host's reply to the first host. Returns the replies of all hosts there, and none on other hosts.
    fn reply(&mut self, performed: &Performed) -> Result<Vec<Vec<u8>>, PeerFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.wire.gather(&text(&Reply::new(performed))).map_err(|fault| self.fail(fault))
    }

    fn collect(&mut self, own: Performed, stop: &Stop) -> Performed {
        let replies = self.reply(&own).and_then(|all| {
            let others = self.hosts.iter().zip(all).skip(1);
            others.map(|(host, reply)| Ok((host.name.clone(), parse(&reply)?))).collect::<Result<Vec<_>, PeerFault>>()
        });
        match replies {
            Ok(replies) => {
                let (performed, is_stopped) = order::combined(own, replies);
                if is_stopped {
                    stop.request();
                }
                performed
            }
            Err(fault) => {
                // The reason ends the run; rounds that are finished stay.
                self.fault.get_or_insert(fault);
                stop.request();
                None
            }
        }
    }
}

/// A problem of one host, for the others.
#[derive(Debug, Serialize, serde::Deserialize)]
struct Problem {
    message: String,
    hint: Option<String>,
    /// The exit status.
    exit: u8,
}

/// The part of a plan that must be the same on all hosts. Sizes that are chosen later may differ now, because each host
/// has another free space.
fn agreement(targets: &[Target], plan: &Plan) -> Agreement {
    let (is_sized, largest) = match &plan.sizing {
        PlannedSizing::FitTime(fit) => (false, Some(fit.limits.largest)),
        PlannedSizing::Fixed | PlannedSizing::Thin => (true, None),
    };
    let test = |alternative: &crate::plan::Alternative| {
        let row = &alternative.row;
        let name = if is_sized { row.label() } else { row.program.name.to_owned() };
        let omitted = if row.omitted.is_some() { ", left out" } else { "" };
        format!("{name}{omitted} (target {:?})", alternative.targets)
    };
    let tests = plan.alternatives.iter().map(test).collect();
    Agreement { tests, storage: targets.iter().map(storage).collect(), warnings: Vec::new(), largest }
}

/// The storage of a target, in the words of an error.
fn storage(target: &Target) -> String {
    let file_system = target.file_system().unwrap_or_else(|| "an unknown file system".to_owned());
    let place = target.place();
    let memory = if place.is_some_and(|place| place.in_memory.is_some()) { " in memory" } else { "" };
    let nested = if place.is_some_and(|place| place.nested_in.is_some()) { " in an image" } else { "" };
    let cache = place.and_then(|place| place.device.as_ref()?.write_cache()).unwrap_or_default();
    let cache = if cache.is_empty() { String::new() } else { format!(" with the cache mode {cache}") };
    format!("{file_system}{memory}{nested}{cache}")
}

fn text(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("plain data")
}

fn parse<T: DeserializeOwned>(message: &[u8]) -> Result<T, PeerFault> {
    serde_json::from_slice(message).map_err(|error| PeerFault::Unknown(error.to_string()))
}

#[cfg(test)]
mod tests;
