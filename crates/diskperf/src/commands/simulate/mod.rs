//! `diskperf simulate [MACHINE [PRESET]]`: the same programs on a simulated machine, into the same table.

mod parts;

use crate::cli::SimulateArguments;
use crate::error::Error;
use crate::exit::Exit;
use crate::machines::Machine;
use crate::output;

/// Runs the command.
pub fn run(arguments: &SimulateArguments) -> Result<Exit, Error> {
    let Some(name) = &arguments.machine else {
        output::print(&parts::list(Machine::all()))?;
        return Ok(Exit::Done);
    };
    let mut machine = Machine::load(name)?;
    arguments.settings.iter().try_for_each(|setting| machine.set(setting))?;
    machine.describe(1, 0)?;
    output::print(&parts::parts(&machine))?;
    Ok(Exit::Done)
}
