//! The pages of `ridge numerics`.

pub mod flags;
pub mod orders;
mod parts;
pub mod reference;
pub mod repeat;
