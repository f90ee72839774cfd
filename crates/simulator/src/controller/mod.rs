//! Controllers. A controller takes requests, uses drives and bus, and interrupts the processor. Each kind is a file
//! here, an arm of [`Controller`], and a struct in the description.

mod event;
mod hardware;
mod ide;
mod massbus;
mod sector_search;
mod time_account;
mod uda;

use event::Io;
pub(crate) use event::{Event, Signal};
pub(crate) use hardware::Hardware;
use ide::Ide;
use massbus::Massbus;
pub(crate) use time_account::TimeAccount;
use uda::Uda;

use crate::block::Request;
use crate::description;

/// State of a controller.
#[derive(Debug)]
#[repr(u8)]
pub(crate) enum Controller {
    Massbus(Massbus),
    Uda(Uda),
    Ide(Ide),
}

impl Controller {
    pub(crate) fn new(description: &description::Description, drives: usize) -> Controller {
        let queue = description.queue;
        match &description.controller {
            description::Controller::Massbus(massbus) => {
                Controller::Massbus(Massbus::new(massbus.clone(), queue, drives))
            }
            description::Controller::Uda(uda) => Controller::Uda(Uda::new(uda.clone(), queue, drives)),
            description::Controller::Ide(ide) => Controller::Ide(Ide::new(ide.clone(), queue, drives)),
        }
    }

    /// Takes a request.
    #[inline(always)]
    pub(crate) fn submit(&mut self, hardware: &mut Hardware, request: Request) {
        let io = Io::from(request);
        match self {
            Controller::Massbus(massbus) => massbus.submit(hardware, io),
            Controller::Uda(uda) => uda.submit(hardware, io),
            Controller::Ide(ide) => ide.submit(hardware, io),
        }
    }

    /// Handles an event that the controller scheduled. Returns the signal of an interrupt that has been served at once:
    /// `served` must follow.
    #[inline(always)]
    pub(crate) fn happens(&mut self, hardware: &mut Hardware, event: Event) -> Option<Signal> {
        match self {
            Controller::Massbus(massbus) => massbus.happens(hardware, event),
            Controller::Uda(uda) => uda.happens(hardware, event),
            Controller::Ide(ide) => ide.happens(hardware, event),
        }
    }

    /// Continues after an interrupt of the controller was served. Returns the request that this completes, if any.
    #[inline(always)]
    pub(crate) fn served(&mut self, hardware: &mut Hardware, signal: Signal) -> Option<Request> {
        let io = match self {
            Controller::Massbus(massbus) => massbus.served(hardware, signal),
            Controller::Uda(uda) => uda.served(hardware, signal),
            Controller::Ide(ide) => ide.served(hardware, signal),
        };
        io.map(Request::from)
    }

    /// Returns another request that the last interrupt has completed. Only a command for several requests has one.
    #[inline]
    pub(crate) fn next_completed(&mut self) -> Option<Request> {
        match self {
            Controller::Ide(ide) => ide.next_completed().map(Request::from),
            Controller::Massbus(_) | Controller::Uda(_) => None,
        }
    }
}
