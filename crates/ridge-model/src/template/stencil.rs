//! Stencils on a grid.

use super::{Counter, Demand, DemandError, product};
use crate::NumberFormat;

/// Each point of a grid becomes a weighted sum of points around it, sweep after sweep.
///
/// * bytes: sweeps × 2 × points of the grid × size; blocking over several sweeps would save some of it
/// * operations: sweeps × points of the grid × (2·points − 1)
#[derive(Clone, Debug, PartialEq)]
pub struct Stencil {
    /// Points in x.
    pub nx: u64,
    /// Points in y.
    pub ny: u64,
    /// Points in z.
    pub nz: u64,
    /// Points of the stencil, such as 5 in two dimensions or 7 in three.
    pub points: u64,
    /// Passes over the grid.
    pub sweeps: u64,
    /// Format of the grid.
    pub format: NumberFormat,
}

impl Stencil {
    /// What it needs at least.
    ///
    /// # Errors
    /// When there is nothing to do, or more than can be counted.
    pub fn demand(&self) -> Result<Demand, DemandError> {
        let Self {
            nx,
            ny,
            nz,
            points,
            sweeps,
            format,
        } = *self;
        let values = product(&[nx, ny, nz, sweeps]);
        let for_each = 2.0 * product(&[points]) - 1.0;
        let demand = Counter::new(&[
            ("nx", nx),
            ("ny", ny),
            ("nz", nz),
            ("points", points),
            ("sweeps", sweeps),
        ])?
        .reads("grid", values, format)?
        .writes("next grid", values, format)?
        .elementwise(values * for_each, format)?
        .demand(
            "stencil",
            format!(
                "{nx} x {ny} x {nz}, {points} points, {}{format}",
                if sweeps == 1 {
                    String::new()
                } else {
                    format!("{sweeps} sweeps, ")
                }
            ),
            "sweeps * 2 * nx*ny*nz * size",
            "sweeps * nx*ny*nz * (2*points - 1)",
        );
        Ok(demand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 million points, 16 bytes and 13 operations each.
    #[test]
    fn seven_points_in_three_dimensions() {
        let stencil = Stencil {
            nx: 1000,
            ny: 1000,
            nz: 100,
            points: 7,
            sweeps: 1,
            format: NumberFormat::Fp64,
        };
        let demand = stencil.demand().unwrap();
        assert_eq!(demand.bytes().to_string(), "1.60 GB");
        assert_eq!(demand.operations().unwrap().to_string(), "1.30 GFLOP");
    }
}
