//! Metrics that a program lists itself.

use std::borrow::Cow;

use crate::metric::{Instance, Metric, Metrics, Names, Value};

/// A metric of a [`MetricTable`]: its name, its value and its instances.
pub type Listed = (String, Option<Value<'static>>, Vec<Instance<'static>>);

/// Metrics that a program lists itself, to be read like those of a report: for readers of other formats, and for
/// tests of what works on metrics.
///
/// ```
/// use ncu_rep::{MetricTable, Value};
///
/// let table: MetricTable =
///     [("gpu__time_duration.sum".to_owned(), Some(Value::F64(1500.0)), Vec::new())].into_iter().collect();
/// assert_eq!(table.metrics().number("gpu__time_duration.sum"), Some(1500.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MetricTable {
    names: Names<'static>,
    list: Vec<(Option<Value<'static>>, Vec<Instance<'static>>)>,
}

impl FromIterator<Listed> for MetricTable {
    fn from_iter<T: IntoIterator<Item = Listed>>(metrics: T) -> Self {
        let (names, list): (Vec<Cow<'static, str>>, Vec<_>) = metrics
            .into_iter()
            .map(|(name, value, instances)| (Cow::Owned(name), (value, instances)))
            .unzip();
        Self {
            names: Names::new(names),
            list,
        }
    }
}

impl MetricTable {
    /// Copies metrics of a report, with all instances that can be read.
    #[must_use]
    pub fn copy_of(metrics: &Metrics<'_>) -> Vec<Listed> {
        metrics
            .iter()
            .map(|metric| {
                let instances =
                    metric
                        .instances()
                        .filter_map(Result::ok)
                        .map(|instance| Instance {
                            key: instance.key.map(Value::into_owned),
                            value: instance.value.map(Value::into_owned),
                        });
                let value = metric.value.clone().map(Value::into_owned);
                (metric.name.to_owned(), value, instances.collect())
            })
            .collect()
    }

    /// The metrics, as those of a report.
    #[must_use]
    pub fn metrics(&self) -> Metrics<'_> {
        let mut metrics = Metrics::new(&self.names);
        for (slot, (value, instances)) in self.list.iter().enumerate() {
            if let Some(name) = self.names.get(slot) {
                metrics.insert(slot, Metric::listed(name, value.clone(), instances));
            }
        }
        metrics
    }
}
