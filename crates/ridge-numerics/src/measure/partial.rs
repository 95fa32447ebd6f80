//! What is known after a part of the elements.

use super::failures::{Axes, Failures};
use super::histogram::Histogram;
use super::kernel::{self, Arrays, BLOCK, Block, Distance, INFINITE, Seen, Watch};
use super::sums::{self, Sums};
use super::tally::Tally;
use super::{Judge, Limits, Magnitudes};
use crate::format::{Endian, Format, Overflow};
use crate::view::View;
use fearless_simd::Level;

/// Tensors of up to so many elements have all of them in the map of errors.
const MAPPED_WHOLE: u64 = 1 << 22;
/// Of larger ones, one block of so many.
const MAPPED_EACH: u64 = 16;

/// What two tensors are compared by: the same for all threads.
pub(super) struct Task<'t> {
    pub(super) reference: &'t View<'t>,
    pub(super) output: &'t View<'t>,
    pub(super) magnitudes: Option<Magnitudes<'t>>,
    pub(super) judge: &'t Judge,
    pub(super) axes: Axes,
    pub(super) elements: u64,
    /// The number that each element of a constant tensor is.
    pub(super) first_values: [f64; 2],
    pub(super) level: Level,
    pub(super) way: Way,
}

/// How elements are read.
pub(super) enum Way {
    /// Both formats are the same and fit into binary32.
    Fast(Fast),
    /// Any other pair.
    General,
}

/// Formats that fit into binary32.
pub(super) enum Fast {
    F32,
    Bf16,
    F16,
    /// Values and places of the codes of a byte.
    Byte(Box<([f32; 256], [i32; 256])>),
}

impl Fast {
    fn distance(&self) -> Distance {
        match self {
            Self::F32 => Distance::Bits(0),
            Self::Bf16 => Distance::Bits(16),
            Self::F16 | Self::Byte(_) => Distance::Places,
        }
    }

    /// What is looked at. Formats whose values or places do not follow from the bits of binary32 are read into the arrays.
    fn block<'b>(&self, level: Level, r: &'b [u8], x: &'b [u8], arrays: &mut Arrays) -> Block<'b> {
        let Arrays {
            r: r_values,
            x: x_values,
            places: [r_places, x_places],
            ..
        } = arrays;
        let sides = [(r, r_values, r_places), (x, x_values, x_places)];
        match self {
            Self::F32 => return Block::Single(r, x),
            Self::Bf16 => return Block::Brain(r, x),
            Self::F16 => {
                for (bytes, values, places) in sides {
                    kernel::read_f16(level, bytes, values, places);
                }
            }
            Self::Byte(table) => {
                for (bytes, values, places) in sides {
                    for ((value, place), code) in values.iter_mut().zip(places).zip(bytes) {
                        *value = table.0[usize::from(*code)];
                        *place = table.1[usize::from(*code)];
                    }
                }
            }
        }
        Block::Held
    }
}

impl Way {
    pub(super) fn new(reference: Format, output: Format) -> Self {
        if reference != output {
            return Self::General;
        }
        match output {
            Format::F32 => Self::Fast(Fast::F32),
            Format::Bf16 => Self::Fast(Fast::Bf16),
            Format::F16 => Self::Fast(Fast::F16),
            format if format.size_bytes() == 1 => {
                let values = std::array::from_fn(|code| format.decode(code as u64) as f32);
                let places = std::array::from_fn(|code| format.ordered(code as u64) as i32);
                Self::Fast(Fast::Byte(Box::new((values, places))))
            }
            _ => Self::General,
        }
    }
}

/// Counts of elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) compared: u64,
    pub(super) equal: u64,
    pub(super) certain: u64,
    pub(super) sign_flips: u64,
    pub(super) above: u64,
    pub(super) outward: u64,
    /// Finite pairs of one value, and those that differ in sign alone.
    pub(super) same: u64,
    pub(super) mirrored: u64,
    pub(super) nan_both: u64,
    pub(super) nan_extra: u64,
    pub(super) nan_missing: u64,
    pub(super) infinite_both: u64,
    pub(super) infinite_extra: u64,
    pub(super) infinite_missing: u64,
    pub(super) infinite_sign: u64,
    pub(super) overflow_saturated: u64,
    pub(super) overflow_converted: u64,
    pub(super) subnormal: u64,
    pub(super) subnormal_lost: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        let Self {
            compared,
            equal,
            certain,
            sign_flips,
            above,
            outward,
            same,
            mirrored,
            nan_both,
            nan_extra,
            nan_missing,
            infinite_both,
            infinite_extra,
            infinite_missing,
            infinite_sign,
            overflow_saturated,
            overflow_converted,
            subnormal,
            subnormal_lost,
        } = self;
        for (mine, others) in [
            (compared, other.compared),
            (equal, other.equal),
            (certain, other.certain),
            (sign_flips, other.sign_flips),
            (above, other.above),
            (outward, other.outward),
            (same, other.same),
            (mirrored, other.mirrored),
            (nan_both, other.nan_both),
            (nan_extra, other.nan_extra),
            (nan_missing, other.nan_missing),
            (infinite_both, other.infinite_both),
            (infinite_extra, other.infinite_extra),
            (infinite_missing, other.infinite_missing),
            (infinite_sign, other.infinite_sign),
            (overflow_saturated, other.overflow_saturated),
            (overflow_converted, other.overflow_converted),
            (subnormal, other.subnormal),
            (subnormal_lost, other.subnormal_lost),
        ] {
            *mine += others;
        }
    }
}

/// The largest error of a kind, and the first element that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Peak {
    pub(super) value: f64,
    pub(super) element: u64,
}

impl Peak {
    fn offer(&mut self, value: f64, element: u64) {
        if value > self.value {
            *self = Self { value, element };
        }
    }

    fn merge(&mut self, other: Self) {
        let is_earlier = other.value >= self.value && other.element < self.element;
        if other.value > self.value || (other.value > 0.0 && is_earlier) {
            *self = other;
        }
    }
}

/// The largest errors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peaks {
    pub(super) absolute: Peak,
    pub(super) relative: Peak,
    pub(super) ulps: Peak,
}

/// What is known after a part of the elements.
pub(super) struct Partial {
    pub(super) counts: Counts,
    pub(super) histogram: Histogram,
    pub(super) failures: Failures,
    pub(super) peaks: Peaks,
    /// The largest finite magnitudes.
    pub(super) largest_reference: f64,
    pub(super) largest_output: f64,
    /// The largest error in ULP in each cell.
    pub(super) map: Box<[f32]>,
    pub(super) mapped: u64,
    pub(super) is_reference_constant: bool,
    pub(super) is_output_constant: bool,
}

/// Arrays that a thread works in.
pub(super) struct Room {
    arrays: Box<Arrays>,
    bytes: [Vec<u8>; 3],
    values: [Vec<f64>; 3],
    codes: [Vec<u64>; 2],
    tally: Tally,
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            arrays: Arrays::new(),
            bytes: Default::default(),
            values: [vec![0.0; BLOCK], vec![0.0; BLOCK], vec![0.0; BLOCK]],
            codes: [vec![0; BLOCK], vec![0; BLOCK]],
            tally: Tally::new(),
        }
    }
}

impl Partial {
    pub(super) fn new(task: &Task<'_>) -> Self {
        let (rows, columns) = task.axes.cells();
        Self {
            counts: Counts::default(),
            histogram: Histogram::default(),
            failures: Failures::new(&task.axes),
            peaks: Peaks::default(),
            largest_reference: 0.0,
            largest_output: 0.0,
            map: vec![0.0; (rows * columns) as usize].into(),
            mapped: 0,
            is_reference_constant: true,
            is_output_constant: true,
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.histogram.merge(&other.histogram);
        self.failures.merge(other.failures);
        self.peaks.absolute.merge(other.peaks.absolute);
        self.peaks.relative.merge(other.peaks.relative);
        self.peaks.ulps.merge(other.peaks.ulps);
        self.largest_reference = self.largest_reference.max(other.largest_reference);
        self.largest_output = self.largest_output.max(other.largest_output);
        for (mine, others) in self.map.iter_mut().zip(&other.map) {
            *mine = mine.max(*others);
        }
        self.mapped += other.mapped;
        self.is_reference_constant &= other.is_reference_constant;
        self.is_output_constant &= other.is_output_constant;
    }

    /// Takes in the elements of a segment; what depends on their order is returned.
    pub(super) fn segment(&mut self, task: &Task<'_>, room: &mut Room, from: u64, to: u64) -> Sums {
        let mut peaks = Peaks::default();
        let mut parts = Vec::with_capacity(((to - from) / BLOCK as u64 + 1) as usize);
        let mut first = from;
        while first < to {
            let count = (to - first).min(BLOCK as u64) as usize;
            parts.push(match &task.way {
                Way::Fast(fast) => self.fast(task, room, &mut peaks, fast, first, count),
                Way::General => self.general(task, room, &mut peaks, first, count),
            });
            first += count as u64;
        }
        let same = room.tally.empty(task.level, &mut self.histogram);
        self.counts.equal += same;
        self.counts.same += same;
        self.peaks.absolute.merge(peaks.absolute);
        self.peaks.relative.merge(peaks.relative);
        self.peaks.ulps.merge(peaks.ulps);
        sums::total(&parts)
    }

    /// A block of a format that fits into binary32.
    fn fast(
        &mut self,
        task: &Task<'_>,
        room: &mut Room,
        peaks: &mut Peaks,
        fast: &Fast,
        first: u64,
        count: usize,
    ) -> Sums {
        // What is left over after whole groups comes once in a tensor.
        if !count.is_multiple_of(kernel::LANES) {
            return self.general(task, room, peaks, first, count);
        }
        let Room {
            arrays,
            bytes: [r_bytes, x_bytes, magnitude_bytes],
            values: [.., values],
            tally,
            ..
        } = room;
        let r = task.reference.block(first, count, r_bytes);
        let x = task.output.block(first, count, x_bytes);
        let block = fast.block(task.level, &r, &x, arrays);
        if let Some(magnitudes) = &task.magnitudes {
            let values = &mut values[..count];
            magnitudes.read(first, magnitude_bytes, values);
            for (out, value) in arrays.magnitudes.iter_mut().zip(values) {
                *out = *value as f32;
            }
        }
        let watch = task.watch(fast.distance(), peaks);
        let seen = kernel::run(task.level, block, arrays, count, &watch, tally);
        if seen.largest_r >= INFINITE || seen.largest_x >= INFINITE {
            drop((r, x));
            return self.general(task, room, peaks, first, count);
        }
        let has_peak = seen.has_peak || f64::from(seen.largest_ulps) > peaks.ulps.value;
        let is_looked_at_again = has_peak
            || seen.may_fail
            || seen.has_sign_change
            || seen.has_subnormal(&watch)
            || self.is_output_constant
            || self.is_reference_constant;
        if is_looked_at_again {
            block.hold(arrays);
            self.look_again(task, arrays, peaks, first, count, &watch, &seen);
            if seen.may_fail {
                self.fail(task, arrays, values, first, count, &watch);
            }
        }
        self.take(task, arrays, tally, first, count, &seen)
    }

    /// Elements of a block of finite ones that are beyond the tolerance.
    fn fail(
        &mut self,
        task: &Task<'_>,
        arrays: &Arrays,
        magnitudes: &[f64],
        first: u64,
        count: usize,
        watch: &Watch,
    ) {
        let format = task.output.format();
        let (r, x) = (&arrays.r[..count], &arrays.x[..count]);
        let elements = r.iter().zip(x).zip(&*arrays.ulps).zip(magnitudes);
        for (element, (((r, x), ulps), magnitude)) in (first..).zip(elements) {
            // Nearly all are within what can be said in binary32.
            let binade = f32::from_bits(r.to_bits() & INFINITE);
            let tolerance = watch.absolute + watch.relative * r.abs() + watch.per_binade * binade;
            if (x - r).abs() <= tolerance {
                continue;
            }
            let is_lost = *r != 0.0 && r.abs() < watch.min_normal && *x == 0.0;
            let (r, x) = (f64::from(*r), f64::from(*x));
            let magnitude = task.magnitudes.as_ref().map_or(0.0, |_| *magnitude);
            let (error, ulp) = ((x - r).abs(), format.ulp_of(r));
            if !(is_lost && task.judge.accepts_flush_to_zero) {
                self.judge(task, element, error, f64::from(*ulps), |limits| {
                    limits.at(r, ulp, magnitude)
                });
            }
        }
    }

    /// Holds an error against the tolerance.
    fn judge(
        &mut self,
        task: &Task<'_>,
        element: u64,
        error: f64,
        ulps: f64,
        at: impl Fn(&Limits) -> f64,
    ) {
        let tolerance = at(&task.judge.tolerance);
        if error <= tolerance || tolerance.is_nan() {
            return;
        }
        // Without a tolerance each error counts by itself.
        let badness = if tolerance > 0.0 {
            error / tolerance
        } else {
            ulps
        };
        self.failures.add(&task.axes, element, badness);
        let certain = task.judge.certain.as_ref();
        let is_certain = certain.is_none_or(|certain| error > at(certain));
        self.counts.certain += u64::from(is_certain);
    }

    /// What single elements of a block of finite ones add.
    #[expect(
        clippy::too_many_arguments,
        reason = "one step of `fast`, cut off for its length"
    )]
    fn look_again(
        &mut self,
        task: &Task<'_>,
        arrays: &Arrays,
        peaks: &mut Peaks,
        first: u64,
        count: usize,
        watch: &Watch,
        seen: &Seen,
    ) {
        let (r, x) = (&arrays.r[..count], &arrays.x[..count]);
        if seen.has_sign_change {
            for (r, x) in r.iter().zip(x) {
                let is_flip = is_flip(f64::from(*r), f64::from(*x));
                self.counts.sign_flips += u64::from(is_flip);
                self.counts.mirrored += u64::from(is_flip && *r == -*x);
            }
        }
        if seen.has_subnormal(watch) {
            for (r, x) in r.iter().zip(x) {
                let is_subnormal = *r != 0.0 && r.abs() < watch.min_normal;
                self.counts.subnormal += u64::from(is_subnormal);
                self.counts.subnormal_lost += u64::from(is_subnormal && *x == 0.0);
            }
        }
        if seen.has_peak || f64::from(seen.largest_ulps) > peaks.ulps.value {
            let floor = task.judge.relative_floor;
            let known = peaks.ulps.value as u32;
            let is_peak = |r: f32, x: f32, ulps: u32| {
                let error = (x - r).abs();
                (error > watch.peak_absolute)
                    | (error > watch.peak_relative * r.abs().max(x.abs()))
                    | (ulps > known)
            };
            let groups = r
                .chunks(kernel::LANES)
                .zip(x.chunks(kernel::LANES))
                .zip(arrays.ulps.chunks(kernel::LANES));
            for (group, ((r, x), ulps)) in groups.enumerate() {
                let group_has_one = (r.iter().zip(x).zip(ulps))
                    .fold(false, |any, ((r, x), ulps)| any | is_peak(*r, *x, *ulps));
                if !group_has_one {
                    continue;
                }
                for (place, ((r, x), ulps)) in r.iter().zip(x).zip(ulps).enumerate() {
                    let element = first + (group * kernel::LANES + place) as u64;
                    let (r, x) = (f64::from(*r), f64::from(*x));
                    offer(peaks, element, r, x, f64::from(*ulps), floor);
                }
            }
        }
        if self.is_output_constant {
            self.is_output_constant = x.iter().all(|x| f64::from(*x) == task.first_values[1]);
        }
        if self.is_reference_constant {
            self.is_reference_constant = r.iter().all(|r| f64::from(*r) == task.first_values[0]);
        }
    }

    /// What a block of finite elements adds as a whole.
    fn take(
        &mut self,
        task: &Task<'_>,
        arrays: &mut Arrays,
        tally: &mut Tally,
        first: u64,
        count: usize,
        seen: &Seen,
    ) -> Sums {
        self.counts.compared += count as u64;
        self.counts.above += seen.above;
        self.counts.outward += seen.outward;
        let largest = |bits: u32| f64::from(f32::from_bits(bits));
        self.largest_reference = self.largest_reference.max(largest(seen.largest_r));
        self.largest_output = self.largest_output.max(largest(seen.largest_x));
        if task.is_mapped(first) {
            let ulps = &arrays.ulps[..count];
            self.mapped += count as u64;
            task.axes.runs(first, count, |cell, from, to| {
                let most = kernel::largest(task.level, &ulps[from..to]);
                self.map[cell] = self.map[cell].max(most as f32);
            });
        }
        if seen.largest_ulps > 1 {
            tally.take(&mut arrays.ulps, count, seen.largest_ulps);
        } else {
            tally.add_ones(seen.ones as u32, count as u32);
        }
        let [d, dd, dr, rr, r] = seen.sums;
        Sums {
            count: count as u64,
            exponent: 0,
            d,
            dd,
            dr,
            rr,
            r,
        }
    }

    /// A block of any formats, with any elements.
    fn general(
        &mut self,
        task: &Task<'_>,
        room: &mut Room,
        peaks: &mut Peaks,
        first: u64,
        count: usize,
    ) -> Sums {
        let Room {
            bytes,
            values,
            codes,
            ..
        } = room;
        let [r_bytes, x_bytes, magnitude_bytes] = bytes;
        let [r, x, magnitudes] = values;
        let [r_codes, x_codes] = codes;
        for (view, bytes, values, codes) in [
            (task.reference, r_bytes, &mut *r, &mut *r_codes),
            (task.output, x_bytes, &mut *x, &mut *x_codes),
        ] {
            let block = view.block(first, count, bytes);
            view.format()
                .decode_slice(&block, Endian::Little, &mut values[..count]);
            view.format()
                .codes(&block, Endian::Little, &mut codes[..count]);
        }
        if let Some(known) = &task.magnitudes {
            known.read(first, magnitude_bytes, &mut magnitudes[..count]);
        }
        let largest = r[..count]
            .iter()
            .chain(&x[..count])
            .filter(|value| value.is_finite())
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        let exponent = sums::unit_for(largest);
        let mut sums = Sums {
            exponent,
            ..Sums::default()
        };
        let is_mapped = task.is_mapped(first);
        for place in 0..count {
            let pair = Pair {
                element: first + place as u64,
                r: r[place],
                x: x[place],
                r_code: r_codes[place],
                x_code: x_codes[place],
                magnitude: task.magnitudes.as_ref().map_or(0.0, |_| magnitudes[place]),
            };
            self.is_output_constant &= pair.x == task.first_values[1];
            self.is_reference_constant &= pair.r == task.first_values[0];
            let ulps = if is_saturated(task, &pair) {
                self.counts.overflow_saturated += 1;
                self.counts.equal += 1;
                0.0
            } else if pair.r.is_finite() && pair.x.is_finite() {
                sums.count += 1;
                let (r, x, d) = if exponent == 0 {
                    (pair.r, pair.x, task.difference(&pair))
                } else {
                    let (r, x) = (
                        sums::scale(pair.r, -exponent),
                        sums::scale(pair.x, -exponent),
                    );
                    (r, x, x - r)
                };
                debug_assert!(x.is_finite());
                sums.d += d;
                sums.dd += d * d;
                sums.dr += d * r;
                sums.rr += r * r;
                sums.r += r;
                self.finite(task, peaks, &pair)
            } else {
                self.special(task, &pair);
                f64::INFINITY
            };
            if is_mapped {
                self.mapped += 1;
                let cell = task.axes.cell(pair.element);
                self.map[cell] = self.map[cell].max(ulps as f32);
            }
        }
        sums
    }

    /// A pair of finite numbers; returns how far apart they are in ULP.
    fn finite(&mut self, task: &Task<'_>, peaks: &mut Peaks, pair: &Pair) -> f64 {
        let Pair { element, r, x, .. } = *pair;
        let judge = task.judge;
        let format = task.output.format();
        let counts = &mut self.counts;
        counts.compared += 1;
        let is_same = task.reference.format() == format;
        let d = task.difference(pair);
        let ulp = format.ulp_of(r);
        let ulps = if is_same {
            format
                .ordered(pair.r_code)
                .abs_diff(format.ordered(pair.x_code)) as f64
        } else {
            d.abs() / ulp
        };
        self.largest_reference = self.largest_reference.max(r.abs());
        self.largest_output = self.largest_output.max(x.abs());
        self.histogram.add(ulps);
        let is_equal = ulps <= if is_same { 0.0 } else { 0.5 };
        counts.equal += u64::from(is_equal);
        counts.above += u64::from(d > 0.0);
        counts.outward += u64::from(x.abs() > r.abs());
        let is_flip = is_flip(r, x);
        counts.sign_flips += u64::from(is_flip);
        counts.mirrored += u64::from(is_flip && r == -x);
        counts.same += u64::from(r == x);
        let is_subnormal = r != 0.0 && format.min_normal().is_some_and(|least| r.abs() < least);
        let is_lost = is_subnormal && x == 0.0;
        counts.subnormal += u64::from(is_subnormal);
        counts.subnormal_lost += u64::from(is_lost);
        offer(peaks, element, r, x, ulps, judge.relative_floor);
        if !(is_lost && judge.accepts_flush_to_zero) {
            self.judge(task, element, d.abs(), ulps, |limits| {
                limits.at(r, ulp, pair.magnitude)
            });
        }
        ulps
    }

    /// A pair of which one is no finite number.
    fn special(&mut self, task: &Task<'_>, pair: &Pair) {
        let Pair { element, r, x, .. } = *pair;
        let format = task.output.format();
        let is_mixed = task.reference.format() != format;
        let counts = &mut self.counts;
        let is_right = match (r.is_nan(), x.is_nan()) {
            (true, true) => {
                counts.nan_both += 1;
                true
            }
            // Where the output has no infinity, NaN stands for it.
            (false, true)
                if (is_beyond(format, r) || (is_mixed && r.is_infinite()))
                    && !has_infinity(format) =>
            {
                counts.overflow_converted += 1;
                true
            }
            (false, true) => {
                counts.nan_extra += 1;
                false
            }
            (true, false) => {
                counts.nan_missing += 1;
                false
            }
            (false, false) if r == x => {
                counts.infinite_both += 1;
                true
            }
            (false, false) if r.is_infinite() && x.is_infinite() => {
                counts.infinite_sign += 1;
                false
            }
            (false, false) if r.is_infinite() => {
                counts.infinite_missing += 1;
                false
            }
            (false, false) if is_beyond(format, r) && r * x > 0.0 => {
                counts.overflow_converted += 1;
                true
            }
            (false, false) => {
                counts.infinite_extra += 1;
                false
            }
        };
        if is_right {
            counts.equal += 1;
        } else {
            counts.certain += 1;
            self.failures.add(&task.axes, element, f64::INFINITY);
        }
    }
}

/// A pair of elements.
struct Pair {
    element: u64,
    r: f64,
    x: f64,
    r_code: u64,
    x_code: u64,
    magnitude: f64,
}

/// Whether two numbers lie on different sides of 0.
fn is_flip(r: f64, x: f64) -> bool {
    (r < 0.0 && x > 0.0) || (r > 0.0 && x < 0.0)
}

/// Whether a format has infinities.
fn has_infinity(format: Format) -> bool {
    format
        .decode(format.encode(f64::INFINITY, Overflow::NonFinite))
        .is_infinite()
}

/// What a value becomes where what is too large becomes the largest number.
fn saturated(format: Format, value: f64) -> f64 {
    format.decode(format.encode(value, Overflow::Saturate))
}

/// Whether the reference is too large for the output's format, and the output is that format's largest number: conversions
/// differ in whether they give that or infinity.
fn is_saturated(task: &Task<'_>, pair: &Pair) -> bool {
    let format = task.output.format();
    task.reference.format() != format
        && (pair.r.is_infinite() || is_beyond(format, pair.r))
        && pair.x == saturated(format, pair.r)
        && pair.x.is_finite()
}

/// Whether a finite number is further from 0 than what a format rounds to its largest one.
fn is_beyond(format: Format, value: f64) -> bool {
    if !value.is_finite() {
        return false;
    }
    if !format.is_float() {
        return (saturated(format, value) - value).abs() > 0.5;
    }
    let most = format.max_finite();
    value.abs() >= most + 0.5 * format.ulp_of(most)
}

fn offer(peaks: &mut Peaks, element: u64, r: f64, x: f64, ulps: f64, floor: f64) {
    let error = (x - r).abs().min(f64::MAX);
    peaks.absolute.offer(error, element);
    if error > 0.0 {
        peaks
            .relative
            .offer(error / r.abs().max(x.abs()).max(floor), element);
    }
    peaks.ulps.offer(ulps, element);
}

/// A number of binary32 that is not larger.
fn rounded_down(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) > value {
        rounded.next_down()
    } else {
        rounded
    }
}

impl Task<'_> {
    fn is_mapped(&self, first: u64) -> bool {
        self.elements <= MAPPED_WHOLE || (first / BLOCK as u64).is_multiple_of(MAPPED_EACH)
    }

    /// The error of a pair, exactly where the elements are integers.
    fn difference(&self, pair: &Pair) -> f64 {
        let integers = (
            self.output.format().decode_integer(pair.x_code),
            self.reference.format().decode_integer(pair.r_code),
        );
        match integers {
            (Some(x), Some(r)) => (x - r) as f64,
            _ => (pair.x - pair.r).clamp(-f64::MAX, f64::MAX),
        }
    }

    fn watch(&self, distance: Distance, peaks: &Peaks) -> Watch {
        let format = self.output.format();
        let limits = &self.judge.tolerance;
        // Roundings of binary32 make no wrong element look right: what comes near to the tolerance is looked at again. Of ULP alone
        // nothing is rounded: a power of two times a number of few digits, and differences of that size.
        let is_exact = limits.absolute == 0.0
            && limits.relative == 0.0
            && self.magnitudes.is_none()
            && limits.ulps <= f64::from(1 << 20)
            && f64::from(limits.ulps as f32) == limits.ulps;
        let slack = if is_exact { 0.0 } else { 1e-6 };
        let shrunk = |value: f64| rounded_down(value * (1.0 - slack));
        let per_binade = format
            .layout()
            .map_or(0.0, |layout| 0.5_f64.powi(layout.mantissa as i32));
        let (absolute, per_binade) = if format.is_float() {
            (limits.absolute, limits.ulps * per_binade)
        } else {
            (limits.absolute + limits.ulps, 0.0)
        };
        Watch {
            distance,
            absolute: shrunk(absolute),
            relative: shrunk(limits.relative),
            per_binade: shrunk(per_binade),
            magnitude: self.magnitudes.as_ref().map(|_| shrunk(limits.magnitude)),
            min_normal: format
                .min_normal()
                .map_or(f32::MIN_POSITIVE, |least| least as f32),
            peak_absolute: rounded_down(peaks.absolute.value),
            // A little more, so that equal errors are looked at once.
            peak_relative: (peaks.relative.value * (1.0 + 1e-6)) as f32,
        }
    }
}
