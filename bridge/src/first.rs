//! The first rank: waits until all ranks have made the same request, and answers it. It knows who is missing.

use std::time::{Duration, Instant};

use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;

use crate::child::{Child, exit_status, how_it_ended};
use crate::clock::{self, Offset};
use crate::message::{FromFirst, ToFirst, arrived, send_to, wait_for_clock};

/// Round trips for each comparison of clocks. The first one wakes the other rank. Chosen: together they take less than
/// a millisecond on a local network.
const ROUND_TRIPS: u32 = 8;

/// The time from an agreement to the start: diskperf reads its counters meanwhile. Chosen: on a busy machine with many
/// processes that took up to 25 ms.
const LEAD: Duration = Duration::from_millis(30);

/// The time per rank that is added, because the answers are sent one after the other. Chosen.
const LEAD_PER_RANK: Duration = Duration::from_micros(50);

/// After this many times the patience, a silent host ends the run. Chosen.
const PATIENCE_AT_MOST: u32 = 10;

/// All ranks, as the first one sees them.
struct Ranks<'a> {
    world: &'a SimpleCommunicator,
    /// The name of each host.
    names: Vec<String>,
    patience: Duration,
}

/// The reason why a host does not answer any more.
enum Lost {
    /// It ended, in words.
    Gone(usize, String),
    /// It ended with this error.
    Error(usize, Vec<u8>),
}

/// Serves the program of this host until it ends. Returns its exit status.
pub fn serve(world: &SimpleCommunicator, mut child: Child, patience: Duration) -> u8 {
    let size = world.size() as usize;
    let names = (0..size).map(|rank| format!("of rank {rank}")).collect();
    let mut ranks = Ranks { world, names, patience };
    while let Some(request) = child.request() {
        let messages = ranks.collect(request.kind, request.bytes);
        let answer = match messages.and_then(|messages| ranks.answer(request.kind, &messages)) {
            Ok(answer) => answer,
            Err(lost) => ranks.reason(lost),
        };
        child.answer(&answer);
    }
    let status = child.end();
    if status.as_ref().is_ok_and(|status| status.code().is_none()) {
        eprintln!("error: diskperf on the first host has ended ({})", how_it_ended(&status));
    }
    ranks.end();
    exit_status(&status)
}

/// The name of a host in one line. In answers, a tab ends it.
fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace(|character: char| character.is_control(), "?")
}

impl Ranks<'_> {
    /// Waits for the same request of all other ranks. Returns all messages in order.
    fn collect(&mut self, kind: u8, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Lost> {
        let mut messages: Vec<Option<Vec<u8>>> = vec![None; self.names.len()];
        messages[0] = Some(own);
        let began = Instant::now();
        let mut is_named = false;
        while messages.iter().any(Option::is_none) {
            match arrived(self.world) {
                Some((rank, ToFirst::Name(name))) => self.names[rank] = shown(&name),
                Some((rank, ToFirst::Request(its, bytes))) if its == kind => messages[rank] = Some(bytes),
                Some((rank, ToFirst::Request(..))) => {
                    return Err(Lost::Gone(rank, "it is at another step of the run".to_owned()));
                }
                Some((rank, ToFirst::Error(error))) => return Err(Lost::Error(rank, error)),
                Some((rank, ToFirst::Gone(how))) => {
                    return Err(Lost::Gone(rank, String::from_utf8_lossy(&how).into_owned()));
                }
                Some((rank, ToFirst::Bye)) => return Err(Lost::Gone(rank, "it has ended".to_owned())),
                None if began.elapsed() < self.patience => {}
                None => {
                    let late: Vec<usize> = (0..messages.len()).filter(|rank| messages[*rank].is_none()).collect();
                    let seconds = began.elapsed().as_secs();
                    if !is_named {
                        let (named, are) = match &late[..] {
                            [rank] => (format!("host {}", self.names[*rank]), "is"),
                            _ => (format!("hosts {}", self.named(&late)), "are"),
                        };
                        eprintln!("remark: {named} {are} {seconds} s behind the first host");
                        is_named = true;
                    }
                    if began.elapsed() >= self.patience * PATIENCE_AT_MOST {
                        let how = format!("it did not reach the next meeting within {seconds} s");
                        return Err(Lost::Gone(late[0], how));
                    }
                }
            }
        }
        Ok(messages.into_iter().flatten().collect())
    }

    /// The answer for this host if another one is lost.
    fn reason(&self, lost: Lost) -> Vec<u8> {
        match lost {
            Lost::Gone(rank, how) => format!("gone {}\t{how}\n", self.names[rank]).into_bytes(),
            Lost::Error(rank, error) => {
                let mut answer = format!("error {}\t{}\n", self.names[rank], error.len()).into_bytes();
                answer.extend(error);
                answer
            }
        }
    }

    /// Answers all other ranks. Returns the answer for this host.
    fn answer(&self, kind: u8, messages: &[Vec<u8>]) -> Result<Vec<u8>, Lost> {
        let others = 1..self.names.len();
        let send = |rank, answer: &[u8]| send_to(self.world, rank, FromFirst::Answer(answer.to_vec()));
        if kind == b's' {
            let offsets =
                others.clone().map(|rank| self.compare_clocks(rank)).collect::<Result<Vec<Offset>, Lost>>()?;
            let moment = clock::now() + (LEAD + LEAD_PER_RANK * self.names.len() as u32).as_nanos() as u64;
            for (rank, offset) in others.zip(offsets) {
                let there = moment.saturating_add_signed(offset.nanos);
                send(rank, format!("start {there} {}\n", offset.uncertainty).as_bytes());
            }
            return Ok(format!("start {moment} 0\n").into_bytes());
        }
        let mut all = format!("got {}\n", messages.len()).into_bytes();
        for message in messages {
            all.extend_from_slice(format!("{}\n", message.len()).as_bytes());
            all.extend_from_slice(message);
        }
        let theirs = if kind == b'a' { &all[..] } else { b"got 0\n" };
        others.for_each(|rank| send(rank, theirs));
        Ok(all)
    }

    /// Compares the clock of another rank with that of this one. A host can freeze after its request.
    fn compare_clocks(&self, rank: usize) -> Result<Offset, Lost> {
        let at_most = self.patience * PATIENCE_AT_MOST;
        let round_trip = |_| {
            let before = clock::now();
            send_to(self.world, rank, FromFirst::Clock);
            let there = wait_for_clock(self.world, rank, self.patience).or_else(|| {
                let seconds = self.patience.as_secs();
                eprintln!("remark: host {} has not answered for {seconds} s", self.names[rank]);
                wait_for_clock(self.world, rank, at_most - self.patience)
            })?;
            Some((before, there, clock::now()))
        };
        match (0..ROUND_TRIPS).map(round_trip).collect::<Option<Vec<_>>>() {
            Some(round_trips) => Ok(clock::offset(round_trips.into_iter())),
            None => Err(Lost::Gone(rank, format!("it did not answer for {} s", at_most.as_secs()))),
        }
    }

    /// The names of these hosts.
    fn named(&self, ranks: &[usize]) -> String {
        ranks.iter().map(|rank| self.names[*rank].as_str()).collect::<Vec<&str>>().join(", ")
    }

    /// Ends all other ranks, and waits for their programs. Ends the whole job if one does not answer. Then lets all end
    /// MPI at the same time, because each waits only a few seconds for the others (`END`).
    fn end(&self) {
        let others = 1..self.names.len();
        others.clone().for_each(|rank| send_to(self.world, rank, FromFirst::End));
        let mut left: Vec<usize> = others.clone().collect();
        let began = Instant::now();
        while !left.is_empty() {
            match arrived(self.world) {
                Some((rank, ToFirst::Bye)) => left.retain(|other| *other != rank),
                None if began.elapsed() >= self.patience => {
                    eprintln!("error: host {} does not end", self.named(&left));
                    self.world.abort(1);
                }
                // Requests that came too late.
                _ => {}
            }
        }
        others.for_each(|rank| send_to(self.world, rank, FromFirst::End));
    }
}
