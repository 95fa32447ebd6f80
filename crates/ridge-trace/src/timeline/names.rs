//! Names, each stored once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

super::id! {
    /// A name of a [`Timeline`](super::Timeline).
    NameId
}

/// Texts that records refer to.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// All texts, one after the other.
    text: String,
    /// Where each text ends.
    ends: Vec<usize>,
    hasher: RandomState,
    /// Places of texts with the same hash.
    places: HashMap<u64, Vec<u32>>,
}

impl Names {
    /// Finds or adds a text.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = self.hasher.hash_one(text);
        let known = self.places.get(&hash).into_iter().flatten();
        let found = known
            .map(|place| NameId::of_place(usize::try_from(*place).unwrap_or(usize::MAX)))
            .find(|id| self.get(*id) == text);
        if let Some(id) = found {
            return id;
        }
        let place = self.ends.len();
        self.text.push_str(text);
        self.ends.push(self.text.len());
        if let Ok(number) = u32::try_from(place) {
            self.places.entry(hash).or_default().push(number);
        }
        NameId::of_place(place)
    }

    /// The text of a name; empty for a name of another timeline.
    #[must_use]
    pub fn get(&self, id: NameId) -> &str {
        let place = id.place();
        let start = match place.checked_sub(1) {
            Some(before) => self.ends.get(before).copied(),
            None => Some(0),
        };
        let range = start.zip(self.ends.get(place).copied());
        range
            .and_then(|(start, end)| self.text.get(start..end))
            .unwrap_or_default()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All names with their texts.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..self.len()).map(|place| {
            let id = NameId::of_place(place);
            (id, self.get(id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_stored_once() {
        let mut names = Names::default();
        let empty = names.intern("");
        let (a, b) = (names.intern("a"), names.intern("bé"));
        assert_eq!(names.intern("a"), a);
        assert_eq!(names.len(), 3);
        assert_eq!(
            [names.get(empty), names.get(a), names.get(b)],
            ["", "a", "bé"]
        );
        assert_eq!(names.get(NameId::of_place(9)), "");
    }
}
