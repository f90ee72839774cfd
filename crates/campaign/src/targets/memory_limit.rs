//! Limits the memory of a run.

use kernel::MemoryLimit;

use crate::events::Event;
use crate::plan::Plan;
use crate::targets::Target;

/// Limits the memory of this process as planned. If that is impossible, reports it and plans without a limit. Does
/// nothing if all targets are simulated: a simulated machine has its own memory.
pub fn limit_memory(plan: &mut Plan, targets: &[Target], notify: &mut dyn FnMut(Event)) -> Option<MemoryLimit> {
    let bytes = plan.memory.take().filter(|_| targets.iter().any(|target| !target.is_simulated()))?;
    match MemoryLimit::new(bytes.0) {
        Ok(limit) => {
            plan.memory = Some(bytes);
            Some(limit)
        }
        Err(why) => {
            notify(Event::MemoryNotLimited { bytes, why: &why });
            None
        }
    }
}
