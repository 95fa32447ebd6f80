//! How a value differs from thread to thread.

use super::types::Type;

/// A factor of `threadIdx.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factor {
    Number(i64),
    /// A value of the run, the same for all threads: a width, a pitch.
    RunTime,
    /// A constant that is defined elsewhere.
    Unknown,
}

/// How a value differs between the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// It does not.
    Uniform,
    /// Between warps, but not within one.
    Warp,
    /// By a step from lane to lane.
    Lane(Factor),
    /// By what was read, or in a way that has no simple form.
    Data,
    /// It cannot be told.
    Unknown,
}

impl Spread {
    pub(crate) fn differs_in_block(self) -> bool {
        matches!(self, Self::Warp | Self::Lane(_) | Self::Data)
    }
}

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) space: Space,
    /// The variable in which the pointer or array was declared.
    pub(crate) variable: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    /// An array of the thread's own.
    Local,
    /// A parameter of a function that anybody may call.
    Unknown,
}

/// What is known of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) spread: Spread,
    /// The number itself, where it is a constant.
    pub(crate) number: Option<i64>,
    /// A constant, though one whose number may be defined elsewhere.
    pub(crate) is_constant: bool,
    /// It takes part in a loop over something: it changes from round to round, or with another axis of threads or blocks.
    pub(crate) moves: bool,
    /// It moves by a constant step. What moves by a value of the run need not go through neighbouring elements.
    pub(crate) walks: bool,
    /// It is below this, where that can be told from masks, shifts and remainders.
    pub(crate) below: Option<u64>,
    pub(crate) ty: Type,
    pub(crate) memory: Option<Memory>,
}

impl Value {
    pub(crate) const UNKNOWN: Self = Self {
        spread: Spread::Unknown,
        number: None,
        is_constant: false,
        moves: false,
        walks: false,
        below: None,
        ty: Type::UNKNOWN,
        memory: None,
    };

    pub(crate) fn number(number: i64, ty: Type) -> Self {
        Self {
            spread: Spread::Uniform,
            number: Some(number),
            is_constant: true,
            ty,
            ..Self::UNKNOWN
        }
    }

    pub(crate) fn of(spread: Spread, ty: Type) -> Self {
        Self {
            spread,
            ty,
            ..Self::UNKNOWN
        }
    }

    /// What two definitions of one variable have in common.
    pub(crate) fn or(self, other: Self) -> Self {
        let spread = match (self.spread, other.spread) {
            (a, b) if a == b => a,
            (Spread::Unknown, _) | (_, Spread::Unknown) => Spread::Unknown,
            (Spread::Lane(_), Spread::Lane(_)) => Spread::Lane(Factor::Unknown),
            (Spread::Uniform | Spread::Warp, Spread::Uniform | Spread::Warp) => Spread::Warp,
            _ => Spread::Data,
        };
        Self {
            spread,
            number: self.number.filter(|_| self.number == other.number),
            is_constant: self.is_constant && other.is_constant && self.number == other.number,
            moves: self.moves || other.moves,
            walks: self.walks || other.walks,
            below: self.below.zip(other.below).map(|(a, b)| a.max(b)),
            ty: self.ty,
            memory: self.memory.filter(|_| self.memory == other.memory),
        }
    }

    /// A value made of two in a way that keeps no step.
    pub(crate) fn mixed(self, other: Self, ty: Type) -> Self {
        let spread = match (self.spread, other.spread) {
            (Spread::Unknown, _) | (_, Spread::Unknown) => Spread::Unknown,
            (Spread::Uniform, Spread::Uniform) => Spread::Uniform,
            (Spread::Uniform | Spread::Warp, Spread::Uniform | Spread::Warp) => Spread::Warp,
            _ => Spread::Data,
        };
        Self {
            spread,
            is_constant: self.is_constant && other.is_constant,
            moves: self.moves || other.moves,
            walks: self.walks || other.walks,
            ty,
            ..Self::UNKNOWN
        }
    }

    pub(crate) fn plus(self, other: Self, is_minus: bool) -> Self {
        let number = self.number.zip(other.number).and_then(|(a, b)| {
            if is_minus {
                a.checked_sub(b)
            } else {
                a.checked_add(b)
            }
        });
        let spread = match (self.spread, other.spread) {
            (Spread::Unknown, _) | (_, Spread::Unknown) => Spread::Unknown,
            (Spread::Data, _) | (_, Spread::Data) => Spread::Data,
            (Spread::Lane(a), Spread::Lane(b)) => sum(a, b, is_minus),
            (Spread::Lane(a), _) => Spread::Lane(a),
            (_, Spread::Lane(b)) => sum(Factor::Number(0), b, is_minus),
            (Spread::Uniform, Spread::Uniform) => Spread::Uniform,
            _ => Spread::Warp,
        };
        Self {
            spread,
            number,
            ..self.mixed(other, wider(self.ty, other.ty))
        }
        .pointing(if self.ty.is_pointer() { self } else { other })
    }

    /// Arithmetic on a pointer keeps what it points into.
    fn pointing(self, pointer: Self) -> Self {
        if !pointer.ty.is_pointer() {
            return self;
        }
        Self {
            memory: pointer.memory,
            ty: pointer.ty,
            ..self
        }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let number = self
            .number
            .zip(other.number)
            .and_then(|(a, b)| a.checked_mul(b));
        let mixed = Self {
            walks: self.walks && other.is_constant || other.walks && self.is_constant,
            ..self.mixed(other, wider(self.ty, other.ty))
        };
        let (lane, by) = match (self.spread, other.spread) {
            (Spread::Lane(factor), Spread::Uniform) => (factor, other),
            (Spread::Uniform, Spread::Lane(factor)) => (factor, self),
            _ => return Self { number, ..mixed },
        };
        let factor = match (lane, by.number) {
            (_, Some(0)) => Factor::Number(0),
            (Factor::Number(lane), Some(by)) => {
                lane.checked_mul(by).map_or(Factor::Unknown, Factor::Number)
            }
            (Factor::Number(0), None) => Factor::Number(0),
            (Factor::Unknown, _) => Factor::Unknown,
            _ if by.is_constant && by.number.is_none() => Factor::Unknown,
            _ => Factor::RunTime,
        };
        Self {
            spread: Spread::Lane(factor),
            ..mixed
        }
    }

    pub(crate) fn divided(self, by: Self) -> Self {
        let number = self
            .number
            .zip(by.number)
            .and_then(|(a, b)| a.checked_div(b));
        let mut value = Self {
            number,
            ..self.mixed(by, wider(self.ty, by.ty))
        };
        if let (Spread::Lane(Factor::Number(1)), Some(by)) = (self.spread, by.number)
            && by > 0
            && by % 32 == 0
        {
            value.spread = Spread::Warp;
        }
        value
    }

    pub(crate) fn remainder(self, by: Self) -> Self {
        let number = self
            .number
            .zip(by.number)
            .and_then(|(a, b)| a.checked_rem(b));
        let mut value = Self {
            number,
            ..self.mixed(by, wider(self.ty, by.ty))
        };
        if let Some(by) = by
            .number
            .and_then(|by| u64::try_from(by).ok())
            .filter(|by| *by > 0)
        {
            value.below = Some(by);
            if self.spread == Spread::Lane(Factor::Number(1)) && by % 32 == 0 {
                value.spread = self.spread;
            }
        }
        value
    }
}

fn sum(a: Factor, b: Factor, is_minus: bool) -> Spread {
    let factor = match (a, b) {
        (Factor::Number(a), Factor::Number(b)) => {
            let sum = if is_minus {
                a.checked_sub(b)
            } else {
                a.checked_add(b)
            };
            sum.map_or(Factor::Unknown, Factor::Number)
        }
        // Two steps of the run may cancel each other.
        (Factor::RunTime, Factor::RunTime) | (Factor::Unknown, _) | (_, Factor::Unknown) => {
            Factor::Unknown
        }
        _ => Factor::RunTime,
    };
    Spread::Lane(factor)
}

/// The type of a sum or product.
fn wider(a: Type, b: Type) -> Type {
    use super::types::Base;
    if a.is_pointer() {
        return a;
    }
    if b.is_pointer() {
        return b;
    }
    match (a.base, b.base) {
        (Base::Unknown, _) | (_, Base::Unknown) => Type::UNKNOWN,
        (Base::Float { bytes: x }, Base::Float { bytes: y }) => {
            Type::of(Base::Float { bytes: x.max(y) })
        }
        (Base::Float { .. }, _) => Type::of(a.base),
        (_, Base::Float { .. }) => Type::of(b.base),
        (
            Base::Integer {
                bytes: x,
                is_signed: s,
            },
            Base::Integer {
                bytes: y,
                is_signed: t,
            },
        ) => {
            if x.max(y) < 4 {
                Type::INT
            } else if x == y {
                Type::of(Base::Integer {
                    bytes: x,
                    is_signed: s && t,
                })
            } else {
                Type::of(if x > y { a.base } else { b.base })
            }
        }
        (Base::Bool, Base::Integer { .. }) => Type::of(b.base),
        (Base::Integer { .. }, Base::Bool) => Type::of(a.base),
        (x, y) if x == y => Type::of(x),
        _ => Type::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane() -> Value {
        Value::of(Spread::Lane(Factor::Number(1)), Type::INT)
    }

    fn run_time() -> Value {
        Value::of(Spread::Uniform, Type::INT)
    }

    #[test]
    fn steps_add_and_multiply() {
        let four = Value::number(4, Type::INT);
        assert_eq!(lane().times(four).spread, Spread::Lane(Factor::Number(4)));
        assert_eq!(
            lane().times(run_time()).spread,
            Spread::Lane(Factor::RunTime)
        );
        assert_eq!(
            run_time().plus(lane(), true).spread,
            Spread::Lane(Factor::Number(-1))
        );
        assert_eq!(
            lane().plus(lane(), true).spread,
            Spread::Lane(Factor::Number(0))
        );
        assert_eq!(lane().times(lane()).spread, Spread::Data);
    }

    #[test]
    fn the_lane_and_the_warp_of_a_thread() {
        let warp = Value::number(32, Type::INT);
        assert_eq!(lane().divided(warp).spread, Spread::Warp);
        assert_eq!(
            lane().remainder(warp).spread,
            Spread::Lane(Factor::Number(1))
        );
        assert_eq!(
            lane().remainder(Value::number(8, Type::INT)).spread,
            Spread::Data
        );
    }
}
