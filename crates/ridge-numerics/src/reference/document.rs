//! The answer about orders of a sum, as data: every renderer prints this and computes nothing.
//!
//! Fields are only ever added within a version. Absent is `null`; an infinity, which JSON does not have, is `null` too.

use schemars::JsonSchema;
use serde::Serialize;

use super::sums::{Order, Orders};

/// Name of the contract.
pub const ORDERS_SCHEMA: &str = "ridgepoint.numerics-sum";
/// Its version.
pub const VERSION: u32 = 1;

/// A number that JSON can hold.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedTensor {
    /// The file, and the name in it where there is one.
    pub input: String,
    /// The format of its elements.
    pub format: String,
    /// Its shape.
    pub shape: Vec<u64>,
}

/// Three significant figures, without an exponent where that is short.
fn figure(value: f64) -> String {
    if value == 0.0 || (0.01..1e4).contains(&value.abs()) {
        let digits = if value == 0.0 {
            0
        } else {
            (2 - value.abs().log10().floor() as i32).clamp(0, 4)
        };
        format!("{value:.*}", digits as usize)
    } else {
        format!("{value:.2e}")
    }
}

/// One sum in several orders: what `ridge numerics sum --format json` writes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Orders of a sum")]
pub struct OrdersDocument {
    /// Always `ridgepoint.numerics-sum`.
    #[schemars(extend("const" = ORDERS_SCHEMA))]
    pub schema: String,
    /// Version of the contract.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the command.
    pub tool_version: String,
    /// The tensor whose elements are summed.
    pub tensor: NamedTensor,
    /// What additions are rounded to.
    pub accumulated_in: String,
    /// The unit roundoff u of that.
    pub u: f64,
    /// How many values there are.
    pub count: u64,
    /// The exact sum, rounded to `f64`.
    pub exact: f64,
    /// The sum of the sizes of the values, S.
    pub size: f64,
    /// S over the size of the exact sum; `null` where that is 0 and S is not.
    pub condition: Option<f64>,
    /// The orders.
    pub orders: Vec<OrderRow>,
    /// How many random orders were tried.
    pub shuffles: u64,
    /// How many different sums they gave.
    pub distinct: u64,
    /// The smallest of these.
    pub lowest: f64,
    /// The largest of these.
    pub highest: f64,
    /// What is to be learned, in sentences.
    pub lessons: Vec<String>,
}

/// One order.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OrderRow {
    /// Its name.
    pub order: String,
    /// Who sums like that.
    pub who: String,
    /// The sum; `null` where it overflowed.
    pub value: Option<f64>,
    /// The sum less the exact one; `null` where it overflowed.
    pub error: Option<f64>,
    /// The size of the error in units in the last place at the exact sum.
    pub ulps: Option<f64>,
    /// The size of the error over u · S.
    pub error_per_u_s: Option<f64>,
    /// What is to be expected of that: the root of the number of roundings that a value goes through.
    pub expected_per_u_s: f64,
    /// What it cannot exceed, beside one rounding of the result: that number.
    pub bound_per_u_s: f64,
}

/// The name of an order, and who sums like that.
fn named(order: Order) -> (String, &'static str) {
    match order {
        Order::Serial => ("serial".to_owned(), "one thread, or a loop on a CPU"),
        Order::Reversed => ("serial, backwards".to_owned(), "the same from the end"),
        Order::Ascending => (
            "smallest first".to_owned(),
            "nobody, since it has to be sorted",
        ),
        Order::Pairwise => ("pairwise".to_owned(), "NumPy; a tree over everything"),
        Order::Tree { threads } => (
            format!("{threads} threads, then a tree"),
            if threads == 32 {
                "a warp with shuffles"
            } else {
                "a block with shared memory"
            },
        ),
        Order::Split { parts } => (format!("{parts} parts"), "split-K; a block for each part"),
        Order::Kahan => ("Kahan".to_owned(), "serial, errors carried along"),
        Order::Neumaier => ("Neumaier".to_owned(), "the same, safe for large terms"),
        Order::Shuffled { seed } => (format!("shuffled {seed}"), "atomics"),
    }
}

impl OrdersDocument {
    /// Puts the answer together.
    #[must_use]
    pub fn of(orders: &Orders, tensor: NamedTensor, tool_version: &str) -> Self {
        Self {
            schema: ORDERS_SCHEMA.to_owned(),
            version: VERSION,
            tool_version: tool_version.to_owned(),
            tensor,
            accumulated_in: orders.format.name().to_owned(),
            u: orders.format.unit_roundoff().unwrap_or(0.0),
            count: orders.count as u64,
            exact: orders.exact,
            size: orders.size,
            condition: finite(orders.condition),
            orders: orders
                .results
                .iter()
                .map(|result| {
                    let (order, who) = named(result.order);
                    OrderRow {
                        order,
                        who: who.to_owned(),
                        value: finite(result.value),
                        error: finite(result.error),
                        ulps: finite(result.ulps),
                        error_per_u_s: finite(result.relative_to_size),
                        expected_per_u_s: result.expected,
                        bound_per_u_s: result.bound,
                    }
                })
                .collect(),
            shuffles: orders.shuffles as u64,
            distinct: orders.distinct as u64,
            lowest: orders.spread.0,
            highest: orders.spread.1,
            lessons: lessons(orders),
        }
    }
}

/// What the figures of this sum show; nothing is said that they do not.
fn lessons(orders: &Orders) -> Vec<String> {
    let mut lessons = Vec::new();
    let of = |order: Order| orders.results.iter().find(|result| result.order == order);
    if let (Some(serial), Some(pairwise)) = (of(Order::Serial), of(Order::Pairwise)) {
        if serial.ulps > 2.0 * pairwise.ulps && serial.ulps >= 1.0 {
            lessons.push(format!(
                "one after the other is {} ULP off, in pairs {} ULP: a value goes through {} roundings in the one and {} in the other",
                figure(serial.ulps),
                figure(pairwise.ulps),
                Order::Serial.depth(orders.count).unwrap_or(0),
                Order::Pairwise.depth(orders.count).unwrap_or(0),
            ));
        } else if serial.error == 0.0 && pairwise.error == 0.0 {
            lessons
                .push("these values add up without rounding: the order does not matter".to_owned());
        }
    }
    if orders.condition > 100.0 {
        let digits = if orders.condition.is_finite() {
            format!("{} times", figure(orders.condition))
        } else {
            "without bound".to_owned()
        };
        lessons.push(format!(
            "the values cancel: relative errors of the sum are larger than those of the values, {digits}; only a wider format or a compensated sum helps"
        ));
    }
    if orders.shuffles > 1 {
        if orders.distinct > 1 {
            let ulps = (orders.spread.1 - orders.spread.0) / orders.format.ulp_of(orders.exact);
            lessons.push(format!(
                "{} random orders give {} different sums, {} ULP from the smallest to the largest: what atomic additions vary by from run to run",
                orders.shuffles,
                orders.distinct,
                figure(ulps),
            ));
        } else {
            lessons.push(format!(
                "all of {} random orders give the same sum",
                orders.shuffles
            ));
        }
    }
    if let (Some(kahan), Some(neumaier)) = (of(Order::Kahan), of(Order::Neumaier))
        && neumaier.ulps + 1.0 < kahan.ulps
    {
        lessons.push(
            "Kahan's sum fails where a value is larger than the sum so far; Neumaier's does not"
                .to_owned(),
        );
    }
    lessons
}

#[cfg(test)]
mod tests {
    use super::super::compare_orders;
    use super::*;
    use crate::format::Format;

    #[test]
    fn lessons_follow_from_the_figures() {
        let values: Vec<f64> = (1..=4096).map(|index| 1.0 / f64::from(index)).collect();
        let orders = compare_orders(&values, Format::F32, 8).unwrap();
        let lessons = lessons(&orders);
        assert!(
            lessons[0].contains("4095 roundings in the one and 12 in the other"),
            "{lessons:?}"
        );
        assert!(lessons[1].starts_with("8 random orders give"));
        let exact = compare_orders(&[1.0, 2.0, 4.0], Format::F32, 3).unwrap();
        assert_eq!(
            super::lessons(&exact),
            [
                "these values add up without rounding: the order does not matter",
                "all of 3 random orders give the same sum"
            ]
        );
        let cancelling = compare_orders(&[1.0, 1e30, 1.0, -1e30], Format::F64, 0).unwrap();
        let lessons = super::lessons(&cancelling).join("\n");
        assert!(lessons.contains("cancel") && lessons.contains("Neumaier"));
    }
}
