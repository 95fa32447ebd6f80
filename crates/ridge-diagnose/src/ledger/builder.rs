//! Puts rows together from demands, capacities and the clocks of the run.

use ncu_rep::Metrics;
use ridge_model::arch::Figure;
use ridge_model::arch::tensor::Board;

use super::{Resource, Row, Stage, shared_part};

/// A stage of two uses counts for the one that is most of what passes it.
const MOST: f64 = 0.5;

/// Passes that count the same kernel differ by a few per cent in clock and duration. A share this far above all of a
/// peak cannot come from that: a counter or a capacity is wrong.
const CONTRADICTION: f64 = 1.1;

/// Adds rows while the metrics for them are there.
pub(crate) struct Builder<'m, 'r> {
    metrics: &'m Metrics<'r>,
    duration_s: f64,
    rows: Vec<Row>,
}

/// The capacity of a stage: so many units of work in a cycle of each of the units that a counter of cycles sums over.
#[derive(Clone, Copy)]
pub(crate) struct Capacity {
    pub(crate) per_cycle: f64,
    /// A metric that sums elapsed cycles over all units, such as `lts__cycles_elapsed.sum`.
    pub(crate) cycles: &'static str,
}

impl<'m, 'r> Builder<'m, 'r> {
    /// Starts without rows; absent when the duration is, since a share is a part of it.
    pub(crate) fn new(metrics: &'m Metrics<'r>) -> Option<Self> {
        let duration_ns = metrics.number("gpu__time_duration.sum")?;
        (duration_ns > 0.0).then(|| Self {
            metrics,
            duration_s: duration_ns * 1e-9,
            rows: Vec::new(),
        })
    }

    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    pub(crate) fn metrics(&self) -> &'m Metrics<'r> {
        self.metrics
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.metrics.number(name)
    }

    /// Adds a row whose demand is the sum of counters; absent when any of them is.
    pub(crate) fn add_sum(
        &mut self,
        stage: Stage,
        counters: &[&str],
        unit: &'static str,
        capacity: Capacity,
    ) {
        let demand: Option<f64> = counters.iter().map(|counter| self.number(counter)).sum();
        if let Some(demand) = demand {
            let source = counters.iter().map(|&counter| counter.to_owned()).collect();
            self.add(stage, demand, unit, capacity, source);
        }
    }

    /// The same where the architecture has a figure for the capacity; absent where it has none.
    pub(crate) fn add_figure(
        &mut self,
        stage: Stage,
        counters: &[&str],
        unit: &'static str,
        figure: Option<Figure>,
        cycles: &'static str,
    ) {
        if let Some(Figure { value, .. }) = figure {
            let capacity = Capacity {
                per_cycle: value,
                cycles,
            };
            self.add_sum(stage, counters, unit, capacity);
        }
    }

    /// How many units of a kind the counters were summed over.
    pub(crate) fn units(&self, unit: &str) -> Option<f64> {
        let all = self.number(&format!("{unit}__cycles_elapsed.sum"))?;
        let mean = self.number(&format!("{unit}__cycles_elapsed.avg"))?;
        (all > 0.0 && mean > 0.0).then(|| all / mean)
    }

    /// The class of the board; absent where the report does not name it.
    pub(crate) fn board(&self) -> Option<Board> {
        self.metrics
            .text("device__attribute_display_name")
            .map(Board::of)
    }

    /// Adds a row for a demand; absent when the cycles of the unit are.
    pub(crate) fn add(
        &mut self,
        stage: Stage,
        demand: f64,
        unit: &'static str,
        capacity: Capacity,
        mut source: Vec<String>,
    ) {
        let Some(cycles) = self.number(capacity.cycles).filter(|cycles| *cycles > 0.0) else {
            return;
        };
        source.push(capacity.cycles.to_owned());
        self.push(
            stage,
            demand,
            unit,
            capacity.per_cycle * cycles / self.duration_s,
            source,
        );
    }

    /// Adds a row for a demand against a capacity per second.
    pub(crate) fn push(
        &mut self,
        stage: Stage,
        demand: f64,
        unit: &'static str,
        capacity_per_s: f64,
        source: Vec<String>,
    ) {
        let busy_share = demand / capacity_per_s / self.duration_s;
        // Counters of different passes disagree by a few per cent, and then a unit is busy all the time. A row that says
        // far more contradicts itself and is left out.
        if demand >= 0.0 && capacity_per_s > 0.0 && busy_share <= CONTRADICTION {
            let busy_share = busy_share.min(1.0);
            let mut row = Row {
                stage,
                resource: stage.resource(),
                demand,
                unit,
                capacity_per_s,
                busy_share,
                source,
            };
            if stage == Stage::L1Data && shared_part(&self.rows, &row) > MOST {
                row.resource = Resource::Shared;
            }
            self.rows.push(row);
        }
    }

    pub(crate) fn duration_s(&self) -> f64 {
        self.duration_s
    }
}
