//! Compares the number of ranks that the launcher started with the number that the linked MPI sees. The launcher of
//! another MPI starts each rank as a world of its own, and each would measure alone.

use std::env;

/// The variables for the number of ranks, and for the rank: Open MPI, PMI (MPICH, Intel MPI), and Slurm.
const VARIABLES: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// The number of ranks, and the number of this rank, according to the launcher.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// The name of the variable, and the number of ranks in it.
    size: Option<(&'static str, usize)>,
    rank: Option<usize>,
}

impl Launched {
    /// Reads the variables of this process.
    pub fn here() -> Launched {
        Launched::from(|name| env::var(name).ok())
    }

    fn from(value: impl Fn(&str) -> Option<String>) -> Launched {
        let number = |name: &str| value(name)?.parse::<usize>().ok();
        let set = VARIABLES.iter().find_map(|(size, rank)| Some((*size, number(size)?, number(rank))));
        Launched { size: set.map(|(name, size, _)| (name, size)), rank: set.and_then(|(_, _, rank)| rank) }
    }

    /// True for the first of the ranks that the launcher started, and for every rank if their numbers are unknown.
    pub fn is_first(&self) -> bool {
        self.rank.is_none_or(|rank| rank == 0)
    }

    /// Returns an error if the linked MPI sees another number of ranks than the launcher started.
    pub fn check(&self, size: usize) -> Result<(), String> {
        match self.size {
            None if size == 1 => Err("diskperf-mpi was not started by mpirun or srun\n\
                 hint: mpirun --map-by ppr:1:node --bind-to none diskperf-mpi run quick DIRECTORY --yes"
                .to_owned()),
            Some((name, count)) if count != size => Err(format!(
                "the launcher started {count} ranks ({name}), but this MPI library sees {size}\n\
                 hint: use the mpirun of the library that diskperf-mpi is linked with; with Slurm, see srun --mpi=list"
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Launched {
        Launched::from(|name| Some(variables.iter().find(|(set, _)| *set == name)?.1.to_owned()))
    }

    #[test]
    fn the_library_and_the_launcher_must_agree() {
        let hydra = launched(&[("PMI_SIZE", "4"), ("PMI_RANK", "2")]);
        assert!(hydra.check(4).is_ok() && !hydra.is_first());
        let other = hydra.check(1).expect_err("worlds of one rank");
        assert!(other.starts_with("the launcher started 4 ranks (PMI_SIZE), but this MPI library sees 1\n"), "{other}");
        assert!(launched(&[("OMPI_COMM_WORLD_SIZE", "1")]).check(1).is_ok());
        assert!(launched(&[("SLURM_STEP_NUM_TASKS", "2"), ("SLURM_PROCID", "0")]).check(1).is_err());
    }

    #[test]
    fn an_unknown_launcher_is_one_that_started_several_ranks() {
        let unknown = launched(&[("HOME", "/root")]);
        assert!(unknown.check(1).expect_err("no launcher").starts_with("diskperf-mpi was not started by mpirun"));
        assert!(unknown.check(2).is_ok() && unknown.is_first());
    }
}
