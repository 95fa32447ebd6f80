//! What the shape of a set of samples says: more than one mode, a trend, the step of the timer.

pub(crate) mod modes;
pub(crate) mod quantisation;
pub(crate) mod shift;
pub(crate) mod trend;

pub use modes::Modes;
pub use quantisation::Quantisation;
pub use trend::Trend;
