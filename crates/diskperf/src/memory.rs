//! The memory that a run may have.

use kernel::MemoryLimit;

use crate::plan::Plan;
use crate::target::Target;

/// Makes the memory of this process as small as planned; says so where it cannot be, and then plans
/// without. A simulated machine has a memory of its own.
pub fn limit_memory(plan: &mut Plan, targets: &[Target]) -> Option<MemoryLimit> {
    let bytes = plan.memory.take().filter(|_| targets.iter().any(|target| !target.is_simulated()))?;
    match MemoryLimit::new(bytes.0) {
        Ok(limit) => {
            plan.memory = Some(bytes);
            Some(limit)
        }
        Err(error) => {
            remark!("memory is not limited to {bytes}: {error}");
            None
        }
    }
}
