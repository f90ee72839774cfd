//! Bounds of the rate of several drives together, computed from the rate of each drive alone. The two-drive columns of
//! Kridle & McKusick ask this question. Measured and simulated cells use the same function.
//!
//! Policy:
//!   1. If the drives share nothing, each keeps its own rate, and the rates add up (`free`).
//!   2. If they share the processors, all rates shrink by the same factor until the CPU time suffices (`cpu`).
//!   3. A measured rate close to the lower bound is explained by that bound. If it is below both, the programs share
//!      something that the solo cells do not show: controller, bus, device or journal.

/// Within this share of a bound, the bound explains the measured rate: the agreement that the preset requires of two
/// rounds.
pub const CLOSE: f64 = crate::judge::marks::rounds::AGREEMENT;

/// The figures of one program that runs alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solo {
    /// Rate, in any unit.
    pub rate: f64,
    /// CPU time that the program needs, in percent of one processor; `None` if it was not measured.
    pub cpu_percent: Option<f64>,
}

/// The bounds that follow from the solo cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Sum of the rates, if the programs share nothing.
    pub free: f64,
    /// Sum of the rates that the processors allow; `None` if the CPU time is unknown.
    pub cpu: Option<f64>,
}

/// The resource that limits programs that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// None: each program is as fast as alone.
    Nothing,
    /// The processors.
    Cpu,
    /// A resource that the solo cells do not show: controller, bus, device, journal.
    Path,
}

impl Shared {
    /// The name that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Shared::Nothing => "nothing shared",
            Shared::Cpu => "CPU",
            Shared::Path => "controller, bus or device",
        }
    }
}

/// Computes the bounds for programs that run together on this number of processors.
pub fn bounds(solo: &[Solo], processors: f64) -> Bounds {
    let free = solo.iter().map(|alone| alone.rate).sum();
    let needed: Option<f64> = solo.iter().map(|alone| alone.cpu_percent).sum();
    let cpu = needed.map(|needed| {
        let there = 100.0 * processors;
        if needed > there { free * there / needed } else { free }
    });
    Bounds { free, cpu }
}

/// Returns the resource that explains the measured sum of rates.
pub fn explain(bounds: Bounds, measured: f64) -> Shared {
    let allowed = bounds.cpu.unwrap_or(bounds.free);
    if measured < allowed * (1.0 - CLOSE) {
        Shared::Path
    } else if allowed < bounds.free {
        Shared::Cpu
    } else {
        Shared::Nothing
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn twice(rate: f64, cpu: f64) -> Bounds {
        bounds(&[Solo { rate, cpu_percent: Some(cpu) }; 2], 1.0)
    }

    /// Kridle & McKusick 1983, table 1, VAX 11/750, and table 2, VAX 11/780: one drive, two drives, and the explanation
    /// in their section 6.
    #[test]
    fn the_papers_own_columns_are_explained_as_the_paper_explains_them() {
        for (what, one, cpu, two, because) in [
            ("SC750 writes are CPU-limited", 470.0, 99.0, 470.0, Shared::Cpu),
            ("SC750 rewrites too", 650.0, 99.0, 620.0, Shared::Cpu),
            ("and on a 4K/1K file system", 340.0, 98.0, 340.0, Shared::Cpu),
            ("UDA50 on the 750 writes 4096 bytes", 370.0, 97.0, 360.0, Shared::Cpu),
            ("UDA50 reads share controller and UNIBUS", 310.0, 44.0, 520.0, Shared::Path),
            ("SC780 reads are slower on two drives", 560.0, 70.0, 480.0, Shared::Path),
            ("SC780 rewrites too", 760.0, 100.0, 560.0, Shared::Path),
            ("SI 9900 overlaps its 4K/1K reads", 200.0, 31.0, 370.0, Shared::Nothing),
            ("and writes of 4096 bytes", 200.0, 46.0, 370.0, Shared::Nothing),
        ] {
            assert_eq!(explain(twice(one, cpu), two), because, "{what}: {:?}", twice(one, cpu));
        }
    }

    #[test]
    fn what_is_not_known_bounds_nothing() {
        let solo = [Solo { rate: 320.0, cpu_percent: None }; 2];
        assert_eq!(bounds(&solo, 1.0), Bounds { free: 640.0, cpu: None });
        assert_eq!(explain(bounds(&solo, 1.0), 370.0), Shared::Path);
    }

    #[test]
    fn a_second_processor_doubles_what_the_cpu_allows() {
        let solo = [Solo { rate: 1000.0, cpu_percent: Some(90.0) }; 2];
        assert_eq!(bounds(&solo, 1.0).cpu.map(f64::round), Some(1111.0));
        assert_eq!(bounds(&solo, 2.0).cpu, Some(2000.0));
    }

    proptest! {
        #[test]
        fn sharing_never_helps(
            rates in prop::collection::vec((1.0..1e6f64, 0.0..100.0f64), 1..5),
            cpus in 1.0..4.0f64,
        ) {
            let solo: Vec<Solo> = rates.iter().map(|&(rate, cpu)| Solo { rate, cpu_percent: Some(cpu) }).collect();
            let Bounds { free, cpu } = bounds(&solo, cpus);
            prop_assert!(cpu.is_some_and(|cpu| cpu <= free * (1.0 + 1e-12)));
        }
    }
}
