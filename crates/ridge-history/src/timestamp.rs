//! Points in time, as they are stored: whole microseconds since 1970, in UTC.

use std::fmt;
use std::str::FromStr;

use crate::Error;

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// 0001-01-01 and 9999-12-31: what has four digits for the year.
const FIRST_DAY: i64 = -719_162;
const LAST_DAY: i64 = 2_932_896;

/// A point in time in microseconds since 1970-01-01T00:00:00Z.
///
/// Its text is that of RFC 3339 in UTC: `2026-11-30T18:44:43.000250Z`. Before the year 1 and behind 9999, which only a wrong clock
/// or a damaged store gives, the year has a sign and six digits, as ISO 8601 has it. Such a text is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The point that is so many microseconds after 1970. It is kept as it is, plausible or not: whoever walks through a store
    /// goes on behind it.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Whether a result can be of this time: from 1970, which stands for an unknown one, to 9999.
    #[must_use]
    pub const fn is_plausible(self) -> bool {
        0 <= self.0 && self.0 < (LAST_DAY + 1) * SECONDS_PER_DAY * MICROS_PER_SECOND
    }

    /// Microseconds since 1970.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The day, as `2026-11-30`.
    #[must_use]
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.0.div_euclid(MICROS_PER_SECOND * SECONDS_PER_DAY));
        if (1..=9999).contains(&year) {
            format!("{year:04}-{month:02}-{day:02}")
        } else {
            format!("{year:+07}-{month:02}-{day:02}")
        }
    }

    /// To the second and without the `T`, for people: `2026-11-30 18:44:43`.
    #[must_use]
    pub fn to_the_second(self) -> String {
        let (hour, minute, second) = self.clock();
        format!("{} {hour:02}:{minute:02}:{second:02}", self.date())
    }

    /// The point so many days before.
    #[must_use]
    pub fn minus_days(self, days: u32) -> Self {
        let days = i64::from(days) * SECONDS_PER_DAY;
        Self(
            self.0
                .saturating_sub(days.saturating_mul(MICROS_PER_SECOND)),
        )
    }

    fn clock(self) -> (i64, i64, i64) {
        let second = self
            .0
            .div_euclid(MICROS_PER_SECOND)
            .rem_euclid(SECONDS_PER_DAY);
        (second / 3600, second / 60 % 60, second % 60)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = self.clock();
        let micros = self.0.rem_euclid(MICROS_PER_SECOND);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}", self.date())?;
        if micros != 0 {
            write!(f, ".{micros:06}")?;
        }
        f.write_str("Z")
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    /// Reads a day (`2026-11-30`, its first moment) or a time of RFC 3339 in UTC or with an offset.
    fn from_str(text: &str) -> Result<Self, Error> {
        read(text.trim()).ok_or_else(|| Error::Time(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Timestamp> {
    let (date, clock) = match text.split_once(['T', 't', ' ']) {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let days = days(digits(year, 4)?, digits(month, 2)?, digits(day, 2)?)?;
    let Some(clock) = clock else {
        return Some(Timestamp(days * SECONDS_PER_DAY * MICROS_PER_SECOND));
    };
    let (clock, offset) = if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else {
        let place = clock.rfind(['+', '-'])?;
        let (clock, offset) = clock.split_at(place);
        let (hours, minutes) = offset.get(1..)?.split_once(':')?;
        let seconds = digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60;
        (
            clock,
            if offset.starts_with('-') {
                -seconds
            } else {
                seconds
            },
        )
    };
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, fraction),
        None => (clock, ""),
    };
    let mut parts = clock.split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let second = digits(parts.next()?, 2)?;
    // A leap second is the first moment of the next minute.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut micros = 0;
    let mut weight = MICROS_PER_SECOND / 10;
    for letter in fraction.bytes() {
        if !letter.is_ascii_digit() {
            return None;
        }
        // Digits beyond the microsecond are cut off.
        micros += i64::from(letter - b'0') * weight;
        weight /= 10;
    }
    let seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset;
    // An offset leads out of the years that have a text.
    (FIRST_DAY..=LAST_DAY)
        .contains(&seconds.div_euclid(SECONDS_PER_DAY))
        .then_some(Timestamp(seconds * MICROS_PER_SECOND + micros))
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|letter| letter.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Days since 1970 of a day of the Gregorian calendar ("days from civil" of Howard Hinnant).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if year < 1 || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let shifted = if month > 2 { year } else { year - 1 };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    // The thirtieth of February comes back as another day.
    (civil(days) == (year, month, day)).then_some(days)
}

/// The day of the Gregorian calendar, counted from the first of January 1970 (the same, backwards).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d TEXT +%s` says so.
    #[test]
    fn texts_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_796_064_283, "2026-11-30T18:44:43Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            let time = Timestamp::from_micros(seconds * MICROS_PER_SECOND);
            assert_eq!(time.to_string(), text);
            assert_eq!(text.parse::<Timestamp>().unwrap(), time);
        }
        let time: Timestamp = "2026-11-30T18:44:43.00025Z".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-30T18:44:43.000250Z");
        assert_eq!(time.date(), "2026-11-30");
        assert_eq!(time.to_the_second(), "2026-11-30 18:44:43");
        assert_eq!(time.minus_days(30).date(), "2026-10-31");
    }

    #[test]
    fn days_and_offsets_are_read() {
        let read = |text: &str| text.parse::<Timestamp>().map(|time| time.to_string()).ok();
        assert_eq!(read("2026-11-30").as_deref(), Some("2026-11-30T00:00:00Z"));
        assert_eq!(
            read("2026-11-30T01:00:00+02:00").as_deref(),
            Some("2026-11-29T23:00:00Z")
        );
        assert_eq!(
            read("2026-11-30 23:30:00-01:15").as_deref(),
            Some("2026-12-01T00:45:00Z")
        );
        for wrong in [
            "",
            "2026",
            "2026-02-30",
            "2026-13-01",
            "26-01-01",
            "2026-01-01T10:00:00",
            "2026-01-01T24:00:00Z",
            "2026-01-01T10:00Z",
            "yesterday",
            "2026-01-01T10:00:00.x1Z",
            "0000-01-01",
            "2026-01-01-01",
            "+026-01-01",
            "+010000-01-01T00:00:00Z",
            "9999-12-31T23:59:60Z",
            "9999-12-31T23:59:59-00:01",
            "0001-01-01T00:00:00+00:01",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    /// `date -u -d @SECONDS` says so, with `%Y` beyond four digits.
    #[test]
    fn times_beyond_the_calendar_are_told_apart() {
        for (micros, text, is_plausible) in [
            (0, "1970-01-01T00:00:00Z", true),
            (-1, "1969-12-31T23:59:59.999999Z", false),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z", true),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00Z", false),
            (i64::MAX, "+294247-01-10T04:00:54.775807Z", false),
            (
                -62_135_596_800_000_001,
                "+000000-12-31T23:59:59.999999Z",
                false,
            ),
            (i64::MIN, "-290308-12-21T19:59:05.224192Z", false),
        ] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(time.micros(), micros);
            assert_eq!(time.to_string(), text);
            assert_eq!(time.is_plausible(), is_plausible, "{text}");
        }
        let first = Timestamp::from_micros(i64::MIN);
        assert_eq!(first.minus_days(u32::MAX), first);
    }
}
