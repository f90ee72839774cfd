//! The conversation with `diskperf-mpi` over two pipes. Each request is answered before the next one.
//!
//! ```text
//!   all LEN\nBYTES        got COUNT\n, then LEN\nBYTES of each host in order
//!   gather LEN\nBYTES     the same on the first host; got 0\n on the others
//!   start 0\n             start NANOSECONDS UNCERTAINTY\n: a moment of this host's monotonic clock
//!                         gone RANK WORDS\n, instead of any answer: a host has ended
//! ```

use std::io::{BufRead, BufReader, Read, Write};

use runner::peers::Start;
use units::Nanos;

/// The longest line that `diskperf-mpi` sends. Ours.
const LONGEST_LINE: u64 = 4096;

/// The longest message: the results of one execution on one host have some hundred kilobytes. Ours.
const LONGEST_MESSAGE: u64 = 1 << 30;

/// The most hosts of an answer. Ours.
const MOST_HOSTS: usize = 1 << 20;

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireFault {
    /// The other end of the pipes is closed.
    Closed,
    /// The answer has another form.
    Unknown(String),
    /// The host of this rank has ended, for the reason in words.
    Gone(usize, String),
}

/// Both pipes.
pub struct Wire {
    from: BufReader<Box<dyn Read + Send>>,
    to: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wire")
    }
}

impl Wire {
    /// A conversation over these pipes.
    pub fn new(from: impl Read + Send + 'static, to: impl Write + Send + 'static) -> Wire {
        Wire { from: BufReader::new(Box::new(from)), to: Box::new(to) }
    }

    /// Sends this message to all hosts, and returns those of all hosts in order.
    pub fn all(&mut self, message: &[u8]) -> Result<Vec<Vec<u8>>, WireFault> {
        self.ask("all", message)?;
        self.messages()
    }

    /// Sends this message to the first host, which gets those of all hosts. The others get none.
    pub fn gather(&mut self, message: &[u8]) -> Result<Vec<Vec<u8>>, WireFault> {
        self.ask("gather", message)?;
        self.messages()
    }

    /// Waits for all hosts, and agrees with them on a start.
    pub fn start(&mut self) -> Result<Start, WireFault> {
        self.ask("start", &[])?;
        let line = self.line()?;
        let mut numbers = line.strip_prefix("start ").unwrap_or_default().split(' ').map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(moment)), Some(Ok(uncertainty))) => {
                Ok(Start { moment: Nanos(moment), uncertainty: Nanos(uncertainty) })
            }
            _ => Err(WireFault::Unknown(line)),
        }
    }

    fn ask(&mut self, kind: &str, message: &[u8]) -> Result<(), WireFault> {
        // One write, so that the other end does not wake up twice.
        let mut request = format!("{kind} {}\n", message.len()).into_bytes();
        request.extend_from_slice(message);
        let sent = self.to.write_all(&request).and_then(|()| self.to.flush());
        sent.map_err(|_| WireFault::Closed)
    }

    fn messages(&mut self) -> Result<Vec<Vec<u8>>, WireFault> {
        let line = self.line()?;
        let count = line.strip_prefix("got ").and_then(|count| count.parse::<usize>().ok());
        let count = count.filter(|count| *count <= MOST_HOSTS).ok_or(WireFault::Unknown(line))?;
        (0..count).map(|_| self.message()).collect()
    }

    fn message(&mut self) -> Result<Vec<u8>, WireFault> {
        let line = self.line()?;
        let length = line.parse::<u64>().ok().filter(|length| *length <= LONGEST_MESSAGE);
        let length = length.ok_or(WireFault::Unknown(line))?;
        let mut message = Vec::new();
        let read = self.from.by_ref().take(length).read_to_end(&mut message);
        if read.is_ok_and(|read| read as u64 == length) { Ok(message) } else { Err(WireFault::Closed) }
    }

    /// A line without its end.
    fn line(&mut self) -> Result<String, WireFault> {
        let mut line = Vec::new();
        let read = self.from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.is_err() || line.pop() != Some(b'\n') {
            return Err(WireFault::Closed);
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        let gone = line.strip_prefix("gone ").and_then(|rest| rest.split_once(' '));
        match gone.and_then(|(rank, how)| Some((rank.parse().ok()?, how))) {
            Some((rank, how)) => Err(WireFault::Gone(rank, how.to_owned())),
            None => Ok(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// Keeps what is written.
    struct Kept(Sender<Vec<u8>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.send(bytes.to_vec()).expect("a receiver");
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A wire with these answers, and the requests that it sends.
    fn scripted(answers: &str) -> (Wire, Receiver<Vec<u8>>) {
        let (sender, receiver) = channel();
        (Wire::new(Cursor::new(answers.as_bytes().to_vec()), Kept(sender)), receiver)
    }

    #[test]
    fn messages_of_all_hosts_come_in_order() {
        let (mut wire, sent) = scripted("got 2\n1\na3\nb\ncstart 1234567890123 250\ngot 0\n");
        assert_eq!(wire.all(b"a"), Ok(vec![b"a".to_vec(), b"b\nc".to_vec()]));
        assert_eq!(wire.start(), Ok(Start { moment: Nanos(1_234_567_890_123), uncertainty: Nanos(250) }));
        assert_eq!(wire.gather(b"xy"), Ok(Vec::new()));
        assert_eq!(
            sent.try_iter().collect::<Vec<_>>(),
            [b"all 1\na".to_vec(), b"start 0\n".into(), b"gather 2\nxy".into()]
        );
    }

    #[test]
    fn the_end_of_a_host_is_an_answer_to_any_request() {
        let (mut wire, _sent) = scripted("gone 2 signal 9\n");
        assert_eq!(wire.all(b"a"), Err(WireFault::Gone(2, "signal 9".to_owned())));
        let (mut wire, _sent) = scripted("gone 0 exit status 1\n");
        assert_eq!(wire.start(), Err(WireFault::Gone(0, "exit status 1".to_owned())));
    }

    #[test]
    fn broken_answers_are_faults() {
        for answer in ["", "got 1\n", "got 1\n5\nabc", "got 1\n3"] {
            assert_eq!(scripted(answer).0.all(b"a"), Err(WireFault::Closed), "{answer:?}");
        }
        for answer in ["got x\n", "start 1\n", "got 99999999999\n", "got 1\n-1\n", "got 1\n99999999999\n"] {
            assert!(matches!(scripted(answer).0.all(b"a"), Err(WireFault::Unknown(_))), "{answer:?}");
        }
        assert!(matches!(scripted("start 1\n").0.start(), Err(WireFault::Unknown(_))));
    }
}
