//! Statistics on measurements whose truth is known. Seeds are fixed, so a figure changes only with the code; the bounds are
//! those of `docs/design/statistics.md`. What a bound says about a share of runs leaves room for about three standard errors.

mod comparison;
mod coverage;
mod noise;
mod odd;
mod processes;
mod series;
mod shape;
mod stopping;
