//! The conversation with `diskperf-mpi` over two pipes. Each request is answered before the next one.
//!
//! ```text
//!   all LEN\nBYTES        got COUNT\n, then LEN\nBYTES of each host in order
//!   gather LEN\nBYTES     the same on the first host; got 0\n on the others
//!   start 0\n             start NANOSECONDS UNCERTAINTY\n: a moment of this host's monotonic clock
//!   error LEN\nBYTES      no answer: this host ends
//!                         gone NAME\tWORDS\n, instead of any answer: a host has ended
//!                         error NAME\tLEN\nBYTES, instead of any answer: a host ends with this error
//! ```

use std::io::{BufRead, BufReader, Read, Write};

use runner::peers::Start;
use units::{Exit, Nanos};

/// The longest line that `diskperf-mpi` sends. Chosen.
const LONGEST_LINE: u64 = 4096;

/// The longest message: the results of one execution on one host have some hundred kilobytes. Chosen.
const LONGEST_MESSAGE: u64 = 1 << 30;

/// The most hosts of an answer. Chosen.
const MOST_HOSTS: usize = 1 << 20;

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireFault {
    /// The other end of the pipes is closed.
    Closed,
    /// The answer has another form.
    Unknown(String),
    /// The host of this name has ended, for the reason in words.
    Gone(String, String),
    /// The host of this name ends with this error.
    Failed(String, ToldError),
}

/// An error in words, for the other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldError {
    /// The exit status.
    pub exit: Exit,
    /// The message.
    pub message: String,
    /// The hint, if there is one.
    pub hint: Option<String>,
}

impl ToldError {
    /// The bytes on the pipe. `diskperf-mpi` makes such bytes too.
    fn to_bytes(&self) -> Vec<u8> {
        let hint = self.hint.as_ref().map_or_else(String::new, |hint| format!("\0{hint}"));
        format!("{}\0{}{hint}", self.exit as u8, self.message).into_bytes()
    }

    /// Reads these bytes. An unknown exit status is that of a failure.
    fn from_bytes(bytes: &[u8]) -> ToldError {
        let text = String::from_utf8_lossy(bytes);
        let mut words = text.splitn(3, '\0');
        let exit = words.next().and_then(|exit| exit.parse::<u8>().ok());
        let exit = Exit::ALL.into_iter().find(|known| Some(*known as u8) == exit).unwrap_or(Exit::Failed);
        let message = words.next().unwrap_or_default().to_owned();
        ToldError { exit, message, hint: words.next().map(str::to_owned) }
    }
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

    /// Tells the first host the error that ends this one.
    pub fn tell(&mut self, error: &ToldError) -> Result<(), WireFault> {
        self.ask("error", &error.to_bytes())
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
        self.bytes(line)
    }

    /// The bytes after a line with their number.
    fn bytes(&mut self, line: String) -> Result<Vec<u8>, WireFault> {
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
        if let Some((name, how)) = line.strip_prefix("gone ").and_then(|rest| rest.split_once('\t')) {
            return Err(WireFault::Gone(name.to_owned(), how.to_owned()));
        }
        match line.strip_prefix("error ").and_then(|rest| rest.split_once('\t')) {
            Some((name, length)) => {
                let error = self.bytes(length.to_owned())?;
                Err(WireFault::Failed(name.to_owned(), ToldError::from_bytes(&error)))
            }
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
        let gone = |how: &str| WireFault::Gone("n2".to_owned(), how.to_owned());
        assert_eq!(scripted("gone n2\tsignal 9\n").0.all(b"a"), Err(gone("signal 9")));
        assert_eq!(scripted("gone n2\texit status 1\n").0.start(), Err(gone("exit status 1")));
    }

    #[test]
    fn an_error_of_another_host_is_an_answer_too() {
        let (mut wire, sent) = scripted("");
        let error = |hint: Option<&str>| ToldError {
            exit: Exit::Refused,
            message: "no\nspace".to_owned(),
            hint: hint.map(str::to_owned),
        };
        for hint in [None, Some("free some")] {
            wire.tell(&error(hint)).expect("a pipe");
            let told = String::from_utf8(sent.try_recv().expect("a request")).expect("text");
            let answer = told.replacen("error ", "error n1\t", 1);
            assert_eq!(scripted(&answer).0.start(), Err(WireFault::Failed("n1".to_owned(), error(hint))));
        }
        let unknown = scripted("error n1\t5\nx\0abc").0.all(b"a");
        let failed = ToldError { exit: Exit::Failed, message: "abc".to_owned(), hint: None };
        assert_eq!(unknown, Err(WireFault::Failed("n1".to_owned(), failed)));
        assert_eq!(scripted("error n1\t9\nabc").0.all(b"a"), Err(WireFault::Closed));
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
