//! Which results are meant.

use crate::{IdPrefix, Kind, Timestamp};

/// Which results are meant: those for which everything holds that is given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Of this command.
    pub kind: Option<Kind>,
    /// What was measured has this name.
    pub name: Option<String>,
    /// The identifier begins so.
    pub id: Option<IdPrefix>,
    /// Made at this time or later.
    pub since: Option<Timestamp>,
    /// Made before this time.
    pub before: Option<Timestamp>,
    /// On this model of GPU, with the name as it is stored.
    pub gpu: Option<String>,
    /// On this machine.
    pub host: Option<String>,
    /// Of the commit that begins with these digits.
    pub commit: Option<String>,
    /// Of this branch.
    pub branch: Option<String>,
    /// Of files as they were in the commit, or not.
    pub is_dirty: Option<bool>,
    /// With all of these labels; without a value, with any.
    pub labels: Vec<(String, Option<String>)>,
    /// Without any of these labels.
    pub without_labels: Vec<(String, Option<String>)>,
    /// With a point of exactly this subject.
    pub subject: Option<String>,
    /// The newest so many.
    pub limit: Option<u64>,
}
