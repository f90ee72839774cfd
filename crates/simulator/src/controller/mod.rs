//! Controllers. Each takes requests, moves drives and bus, and interrupts the processor; a kind is a file here, an
//! arm of [`Controller`], and a struct in the description.

mod hardware;
mod massbus;
mod occupied;
mod search;
mod uda;

pub(crate) use hardware::Hardware;
use massbus::Massbus;
pub(crate) use occupied::Occupied;
use uda::Uda;

use crate::description;

/// A request: sectors of one drive, and the buffer they go to or come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) drive: u8,
    pub(crate) reads: bool,
    pub(crate) buffer: u16,
    pub(crate) sectors: u16,
    pub(crate) sector: u32,
}

/// What happens in a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// MASSBUS: the drive has found its sector, and calls.
    Calls(u8),
    /// MASSBUS: the sector is under the heads.
    Arrives(u8),
    /// MASSBUS: some sectors have passed.
    Passed(u8),
    /// MASSBUS: the bus has moved the sectors that have passed, after an overrun.
    CaughtUp(u8),
    /// MASSBUS: the controller has done with the request.
    Finished(u8),
    /// UDA: the bus takes up a transfer.
    BusBegins,
    /// UDA: the data of a write are in the buffer.
    Fetched(u8),
    /// UDA: the first sector of a read is under the heads.
    ReadBegins(u8),
    /// UDA: the last sector has passed.
    MediaDone(u8),
    /// UDA: the data of a read are in memory.
    Delivered(Io),
    /// UDA: the host is told.
    Responds(Io),
}

impl Event {
    /// A number for the hash.
    pub(crate) fn code(self) -> u64 {
        let (kind, of) = match self {
            Event::Calls(drive) => (1, drive),
            Event::Arrives(drive) => (2, drive),
            Event::Passed(drive) => (3, drive),
            Event::Finished(drive) => (4, drive),
            Event::BusBegins => (5, 0),
            Event::Fetched(drive) => (6, drive),
            Event::ReadBegins(drive) => (7, drive),
            Event::MediaDone(drive) => (8, drive),
            Event::Delivered(io) => (9, io.drive),
            Event::Responds(io) => (10, io.drive),
            Event::CaughtUp(drive) => (11, drive),
        };
        kind << 8 | u64::from(of)
    }
}

/// What an interrupt of a controller is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A drive calls.
    Call(u8),
    /// The data path has done with a drive.
    Done(u8),
    /// A command is complete.
    Response(Io),
}

/// A controller at work.
#[derive(Debug)]
pub(crate) enum Controller {
    Massbus(Massbus),
    Uda(Uda),
}

impl Controller {
    pub(crate) fn new(description: &description::Description, drives: usize) -> Controller {
        let queue = description.queue;
        match &description.controller {
            description::Controller::Massbus(massbus) => {
                Controller::Massbus(Massbus::new(massbus.clone(), queue, drives))
            }
            description::Controller::Uda(uda) => Controller::Uda(Uda::new(uda.clone(), queue, drives)),
        }
    }

    /// Takes a request.
    pub(crate) fn submit(&mut self, hardware: &mut Hardware, io: Io) {
        match self {
            Controller::Massbus(massbus) => massbus.submit(hardware, io),
            Controller::Uda(uda) => uda.submit(hardware, io),
        }
    }

    /// Something that it asked for happens.
    pub(crate) fn happens(&mut self, hardware: &mut Hardware, event: Event) {
        match self {
            Controller::Massbus(massbus) => massbus.happens(hardware, event),
            Controller::Uda(uda) => uda.happens(hardware, event),
        }
    }

    /// An interrupt of its was served; says which request is complete thereby.
    pub(crate) fn served(&mut self, hardware: &mut Hardware, signal: Signal) -> Option<Io> {
        match self {
            Controller::Massbus(massbus) => massbus.served(hardware, signal),
            Controller::Uda(uda) => uda.served(hardware, signal),
        }
    }
}
