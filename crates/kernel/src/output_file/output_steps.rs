//! Results that are written in steps, because all of them would not fit into memory. A regular file still gets its name
//! only at the end, so that a kill leaves the old file whole.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};

use units::Bytes;

use super::replacement::Replacement;
use super::{Destination, OutputFile, OutputFileFault, Wait, open_stream, stream_to_reader};
use crate::observe::mount::through;
use crate::sys::read_limited;

/// An output file that was begun.
#[derive(Debug)]
pub struct OutputSteps(Open);

#[derive(Debug)]
enum Open {
    /// Standard output, another descriptor, a FIFO, a terminal.
    Stream(File),
    /// A new file for a regular file.
    New { new: Replacement, output: OutputFile },
    /// A file that must be written in place, and the text so far: in steps, a full disk would lose the old file.
    Whole { output: OutputFile, text: Vec<u8> },
}

impl OutputFile {
    /// Begins to write. Waits for a reader of a FIFO until `is_to_stop` returns true.
    pub fn begin(self, is_to_stop: &dyn Fn(Wait) -> bool) -> Result<OutputSteps, OutputFileFault> {
        let open = match &self.destination {
            Destination::Descriptor(file) => Open::Stream(file.try_clone()?),
            Destination::Stream(found) => Open::Stream(open_stream(found, is_to_stop)?),
            Destination::Name { folder, old, .. } => {
                self.check()?;
                match Replacement::begin(folder, old.as_ref())? {
                    Some(new) => Open::New { new, output: self },
                    None => Open::Whole { output: self, text: Vec::new() },
                }
            }
            Destination::Nameless(_) => Open::Whole { output: self, text: Vec::new() },
        };
        Ok(OutputSteps(open))
    }
}

impl OutputSteps {
    /// Begins to write to an open descriptor.
    pub fn to(stream: BorrowedFd) -> Result<OutputSteps, OutputFileFault> {
        Ok(OutputSteps(Open::Stream(stream.try_clone_to_owned()?.into())))
    }

    /// Writes these bytes. Returns false if the reader of a pipe has closed it.
    pub fn add(&mut self, bytes: &[u8], is_to_stop: &dyn Fn(Wait) -> bool) -> Result<bool, OutputFileFault> {
        match &mut self.0 {
            Open::Stream(file) => return stream_to_reader(file.as_fd(), bytes, is_to_stop),
            Open::New { new, .. } => new.file().write_all(bytes)?,
            Open::Whole { text, .. } => text.extend_from_slice(bytes),
        }
        Ok(true)
    }

    /// Gives a regular file its name.
    pub fn end(self, is_to_stop: &dyn Fn(Wait) -> bool) -> Result<(), OutputFileFault> {
        match self.0 {
            Open::Stream(_) => Ok(()),
            Open::New { new, output } => {
                let Destination::Name { folder, name, .. } = &output.destination else { return Ok(()) };
                let file = new.file().try_clone()?;
                if new.end(folder, name)? {
                    return Ok(());
                }
                // Our own text, so its size needs no other limit.
                let own = Bytes(file.metadata()?.len());
                let text = read_limited::bytes(read_limited::open(&through(&file))?, own)?;
                output.write(&text.unwrap_or_default(), is_to_stop)
            }
            Open::Whole { output, text } => output.write(&text, is_to_stop),
        }
    }
}
