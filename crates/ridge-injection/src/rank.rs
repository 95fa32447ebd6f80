//! Which process of a distributed program a process is, as launchers say it in the environment.

/// The place of a process among those of a distributed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its place among all processes, from 0.
    pub number: u64,
    /// Its place among those of its host, from 0.
    pub local: Option<u64>,
    /// How many processes there are.
    pub size: Option<u64>,
    /// What told it: the variable of the environment, or where else a trace has it.
    pub told_by: String,
}

/// What a launcher calls the three.
struct Launcher {
    rank: &'static str,
    local: &'static [&'static str],
    size: &'static [&'static str],
    /// Whether the name of `rank` says too little by itself, so that the size has to be there too.
    needs_size: bool,
    needs_local: bool,
}

/// Launchers, the innermost first: `torchrun` runs within tasks of SLURM, and so does `mpirun`, and both keep the variables
/// of what is around them.
const LAUNCHERS: &[Launcher] = &[
    // torchrun sets all three.
    Launcher {
        rank: "RANK",
        local: &["LOCAL_RANK"],
        size: &["WORLD_SIZE"],
        needs_size: true,
        needs_local: true,
    },
    // Open MPI.
    Launcher {
        rank: "OMPI_COMM_WORLD_RANK",
        local: &["OMPI_COMM_WORLD_LOCAL_RANK"],
        size: &["OMPI_COMM_WORLD_SIZE"],
        needs_size: false,
        needs_local: false,
    },
    // MVAPICH2.
    Launcher {
        rank: "MV2_COMM_WORLD_RANK",
        local: &["MV2_COMM_WORLD_LOCAL_RANK"],
        size: &["MV2_COMM_WORLD_SIZE"],
        needs_size: false,
        needs_local: false,
    },
    // Hydra, of MPICH and Intel MPI.
    Launcher {
        rank: "PMI_RANK",
        local: &["MPI_LOCALRANKID"],
        size: &["PMI_SIZE"],
        needs_size: false,
        needs_local: false,
    },
    // Started by PMIx itself, which tells the size only when it is asked.
    Launcher {
        rank: "PMIX_RANK",
        local: &[],
        size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        needs_size: false,
        needs_local: false,
    },
    // srun. The step is what runs; the job can have more tasks.
    Launcher {
        rank: "SLURM_PROCID",
        local: &["SLURM_LOCALID"],
        size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        needs_size: false,
        needs_local: false,
    },
    // What programs set that start themselves.
    Launcher {
        rank: "RANK",
        local: &["LOCAL_RANK"],
        size: &["WORLD_SIZE"],
        needs_size: true,
        needs_local: false,
    },
];

impl Rank {
    /// The rank that an environment tells: that of the innermost launcher whose numbers make sense. A place that is not below
    /// the size does not, and neither does what is no number.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse::<u64>().ok();
        let first = |names: &[&str]| names.iter().find_map(|name| number(name));
        LAUNCHERS.iter().find_map(|launcher| {
            let rank = number(launcher.rank)?;
            let (local, size) = (first(launcher.local), first(launcher.size));
            let is_whole =
                !(launcher.needs_size && size.is_none() || launcher.needs_local && local.is_none());
            let is_below = size.is_none_or(|size| rank < size);
            (is_whole && is_below).then(|| Self {
                number: rank,
                local,
                size,
                told_by: launcher.rank.to_owned(),
            })
        })
    }

    /// The variables that can tell a rank, each once.
    pub fn variables() -> impl Iterator<Item = &'static str> {
        // The last one repeats the first.
        LAUNCHERS
            .iter()
            .take(LAUNCHERS.len().saturating_sub(1))
            .map(|launcher| launcher.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(variables: &[(&str, &str)]) -> Option<(u64, Option<u64>, Option<u64>, String)> {
        let of = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        Rank::of(of).map(|rank| (rank.number, rank.local, rank.size, rank.told_by))
    }

    #[test]
    fn each_launcher_tells_the_rank() {
        for (variables, expected) in [
            (
                &[
                    ("OMPI_COMM_WORLD_RANK", "5"),
                    ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
                    ("OMPI_COMM_WORLD_SIZE", "8"),
                ][..],
                (5, Some(1), Some(8), "OMPI_COMM_WORLD_RANK"),
            ),
            (
                &[
                    ("PMI_RANK", "3"),
                    ("PMI_SIZE", "4"),
                    ("MPI_LOCALRANKID", "3"),
                ],
                (3, Some(3), Some(4), "PMI_RANK"),
            ),
            (&[("PMIX_RANK", "2")], (2, None, None, "PMIX_RANK")),
            (
                &[
                    ("MV2_COMM_WORLD_RANK", "0"),
                    ("MV2_COMM_WORLD_LOCAL_RANK", "0"),
                    ("MV2_COMM_WORLD_SIZE", "2"),
                ],
                (0, Some(0), Some(2), "MV2_COMM_WORLD_RANK"),
            ),
            (
                &[
                    ("SLURM_PROCID", "7"),
                    ("SLURM_LOCALID", "3"),
                    ("SLURM_NTASKS", "8"),
                ],
                (7, Some(3), Some(8), "SLURM_PROCID"),
            ),
            (
                &[("RANK", "1"), ("WORLD_SIZE", "2")],
                (1, None, Some(2), "RANK"),
            ),
        ] {
            let (number, local, size, variable) = expected;
            assert_eq!(
                rank(variables),
                Some((number, local, size, variable.to_owned()))
            );
        }
    }

    /// One task of SLURM on each of two hosts, four processes of torchrun in each.
    #[test]
    fn the_innermost_launcher_counts() {
        let found = rank(&[
            ("SLURM_PROCID", "1"),
            ("SLURM_NTASKS", "2"),
            ("RANK", "6"),
            ("LOCAL_RANK", "2"),
            ("WORLD_SIZE", "8"),
        ]);
        assert_eq!(found, Some((6, Some(2), Some(8), "RANK".to_owned())));
    }

    #[test]
    fn what_makes_no_sense_tells_nothing() {
        assert_eq!(rank(&[]), None);
        // A word that many programs use for something else.
        assert_eq!(rank(&[("RANK", "1")]), None);
        assert_eq!(rank(&[("PMI_RANK", "four")]), None);
        assert_eq!(rank(&[("PMI_RANK", "")]), None);
        assert_eq!(rank(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), None);
        // The launcher around it still counts.
        let found = rank(&[("RANK", "9"), ("WORLD_SIZE", "2"), ("SLURM_PROCID", "1")]);
        assert_eq!(found.map(|found| found.3), Some("SLURM_PROCID".to_owned()));
    }

    #[test]
    fn variables_are_named_once() {
        let names: Vec<&str> = Rank::variables().collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len());
    }
}
