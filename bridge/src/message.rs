//! The messages between ranks. Each begins with its kind, so none is empty: Open MPI gives another meaning to the
//! address of an empty Rust buffer.

use std::thread;
use std::time::{Duration, Instant};

use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};

/// The tags: from another rank to the first one, back, and the answers of clocks.
const TO_FIRST: i32 = 1;
const FROM_FIRST: i32 = 2;
const CLOCK: i32 = 3;

/// The pause between two polls for a message. Waiting this way costs 1.2 to 1.8 % of a processor.
const PAUSE: Duration = Duration::from_millis(1);

/// The time for which a rank polls without pauses while clocks are compared, because pauses would make the round trip
/// longer. Chosen: longer than the pause of the other rank, so the first round trip usually ends within it. Afterwards,
/// the rank polls with pauses again: it waits until the clocks of all other ranks are compared, and one of them may be
/// frozen.
const AWAKE: Duration = Duration::from_millis(5);

/// A message of another rank to the first one.
#[derive(Debug, PartialEq, Eq)]
pub enum ToFirst {
    /// Its name, at the beginning.
    Name(Vec<u8>),
    /// A request of its program: the kind and the bytes.
    Request(u8, Vec<u8>),
    /// The error that ends its program.
    Error(Vec<u8>),
    /// Its program has ended, in words.
    Gone(Vec<u8>),
    /// The last message, after its program has ended.
    Bye,
}

/// A message of the first rank to another one.
#[derive(Debug, PartialEq, Eq)]
pub enum FromFirst {
    /// The answer for its program.
    Answer(Vec<u8>),
    /// A question for the time of its clock.
    Clock,
    /// The run is over. The second time: all programs have ended.
    End,
}

impl ToFirst {
    fn bytes(self) -> Vec<u8> {
        match self {
            ToFirst::Name(name) => with(b'N', name),
            ToFirst::Request(kind, bytes) => with(b'R', with(kind, bytes)),
            ToFirst::Error(error) => with(b'E', error),
            ToFirst::Gone(words) => with(b'G', words),
            ToFirst::Bye => vec![b'B'],
        }
    }

    fn from_bytes(mut bytes: Vec<u8>) -> ToFirst {
        match bytes.remove(0) {
            b'N' => ToFirst::Name(bytes),
            b'R' => {
                let kind = bytes.remove(0);
                ToFirst::Request(kind, bytes)
            }
            b'E' => ToFirst::Error(bytes),
            b'G' => ToFirst::Gone(bytes),
            _ => ToFirst::Bye,
        }
    }
}

fn with(kind: u8, mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.insert(0, kind);
    bytes
}

/// Sends to the first rank.
pub fn send_to_first(world: &SimpleCommunicator, message: ToFirst) {
    world.process_at_rank(0).send_with_tag(&message.bytes()[..], TO_FIRST);
}

/// A message that has arrived at the first rank, with its sender. Waits for one pause if there is none.
pub fn arrived(world: &SimpleCommunicator) -> Option<(usize, ToFirst)> {
    let Some(status) = world.any_process().immediate_probe_with_tag(TO_FIRST) else {
        thread::sleep(PAUSE);
        return None;
    };
    let rank = status.source_rank();
    let (bytes, _) = world.process_at_rank(rank).receive_vec_with_tag::<u8>(TO_FIRST);
    Some((rank as usize, ToFirst::from_bytes(bytes)))
}

/// Sends to another rank.
pub fn send_to(world: &SimpleCommunicator, rank: usize, message: FromFirst) {
    let bytes = match message {
        FromFirst::Answer(bytes) => with(b'A', bytes),
        FromFirst::Clock => vec![b'C'],
        FromFirst::End => vec![b'E'],
    };
    world.process_at_rank(rank as i32).send_with_tag(&bytes[..], FROM_FIRST);
}

/// Returns the pause after a poll if the message has not arrived for this time. At first there is no pause if the
/// message is expected at once.
fn pause_after(waited: Duration, is_expected: bool) -> Duration {
    if is_expected && waited < AWAKE { Duration::ZERO } else { PAUSE }
}

/// Waits for a message of the first rank.
pub fn wait_for_first(world: &SimpleCommunicator, is_expected: bool) -> FromFirst {
    let first = world.process_at_rank(0);
    let began = Instant::now();
    while first.immediate_probe_with_tag(FROM_FIRST).is_none() {
        thread::sleep(pause_after(began.elapsed(), is_expected));
    }
    let (mut bytes, _) = first.receive_vec_with_tag::<u8>(FROM_FIRST);
    match bytes.remove(0) {
        b'A' => FromFirst::Answer(bytes),
        b'C' => FromFirst::Clock,
        _ => FromFirst::End,
    }
}

/// Sends the time of this rank's clock to the first one.
pub fn send_clock(world: &SimpleCommunicator, nanos: u64) {
    world.process_at_rank(0).send_with_tag(&nanos.to_le_bytes()[..], CLOCK);
}

/// Waits for the time of another rank's clock. `None` if it does not arrive within the patience: a blocking receive
/// would wait for a frozen host forever.
pub fn wait_for_clock(world: &SimpleCommunicator, rank: usize, patience: Duration) -> Option<u64> {
    let from = world.process_at_rank(rank as i32);
    let began = Instant::now();
    while from.immediate_probe_with_tag(CLOCK).is_none() {
        let waited = began.elapsed();
        if waited >= patience {
            return None;
        }
        thread::sleep(pause_after(waited, true));
    }
    let (bytes, _) = from.receive_vec_with_tag::<u8>(CLOCK);
    Some(bytes.try_into().map_or(0, u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_sleeps_between_two_looks() {
        assert_eq!(pause_after(Duration::ZERO, false), PAUSE);
        assert_eq!(pause_after(Duration::ZERO, true), Duration::ZERO);
        assert_eq!(pause_after(AWAKE, true), PAUSE);
    }

    #[test]
    fn messages_keep_their_kind_and_bytes() {
        let messages = || {
            let bytes = || vec![1, 0, 2];
            let request = ToFirst::Request(b'a', bytes());
            [ToFirst::Name(bytes()), request, ToFirst::Error(bytes()), ToFirst::Gone(Vec::new()), ToFirst::Bye]
        };
        for (sent, arrived) in messages().into_iter().zip(messages()) {
            assert_eq!(ToFirst::from_bytes(sent.bytes()), arrived);
        }
    }
}
