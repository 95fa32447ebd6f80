//! Lengths of unions of intervals.

/// Disjoint intervals in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Union {
    parts: Vec<(i64, i64)>,
}

impl Union {
    /// Joins intervals that come in order of their starts.
    pub(crate) fn of_sorted(intervals: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut parts: Vec<(i64, i64)> = Vec::new();
        for (start, end) in intervals {
            match parts.last_mut() {
                Some((_, last)) if start <= *last => *last = (*last).max(end),
                _ => parts.push((start, end)),
            }
        }
        Self { parts }
    }

    /// Their length together.
    pub(crate) fn length(&self) -> i64 {
        self.parts.iter().map(|(start, end)| end - start).sum()
    }

    /// How much of an interval they cover.
    pub(crate) fn within(&self, (start, end): (i64, i64)) -> i64 {
        let first = self.parts.partition_point(|(_, last)| *last <= start);
        let parts = self
            .parts
            .iter()
            .skip(first)
            .take_while(|(from, _)| *from < end);
        parts
            .map(|(from, to)| (*to).min(end) - (*from).max(start))
            .sum()
    }

    /// How much of them another set covers.
    pub(crate) fn overlap(&self, other: &Self) -> i64 {
        let (mut a, mut b) = (self.parts.iter().peekable(), other.parts.iter().peekable());
        let mut length = 0;
        while let (Some(own), Some(theirs)) = (a.peek(), b.peek()) {
            length += (own.1.min(theirs.1) - own.0.max(theirs.0)).max(0);
            if own.1 <= theirs.1 {
                a.next();
            } else {
                b.next();
            }
        }
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once() {
        let union = Union::of_sorted([(0, 10), (5, 12), (12, 13), (20, 30), (22, 25), (40, 40)]);
        assert_eq!(union.length(), 23);
        assert_eq!(union.within((11, 24)), 6);
        assert_eq!(union.within((13, 20)), 0);
        let other = Union::of_sorted([(2, 4), (8, 25), (29, 50)]);
        assert_eq!(union.overlap(&other), 2 + 5 + 5 + 1);
        assert_eq!(other.overlap(&union), 13);
        assert_eq!(union.within((i64::MIN, i64::MAX)), 23);
    }
}
