//! The memory that a run may have.

use kernel::MemoryLimit;

use crate::events::Event;
use crate::plan::Plan;
use crate::targets::Target;

/// Makes the memory of this process as small as planned. If that is not possible, reports it and plans without a limit.
/// A simulated machine has a memory of its own.
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
