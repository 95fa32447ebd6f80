//! Expressions to values, and variables to what all their definitions have in common.

use std::cell::Cell;

use super::expand;
use super::function::{Definition, space};
use super::value::{Factor, Memory, Space, Spread, Value};
use super::{Base, Function, Model, Type};
use crate::syntax::{Id, Kind, Role};

/// Expressions are followed this deep. Those of people are less deep; deeper ones are unknown.
const MOST_DEPTH: usize = 48;
/// Variables that depend on each other in a chain are settled in the order of the text; loops need one more round.
const ROUNDS: usize = 3;
/// Macros and functions that are put in place for an expression.
const MOST_EXPANSIONS: u32 = 16;

/// Gives every variable of a function its value.
pub(super) fn settle(model: &mut Model<'_>, function: usize) {
    for which in 0..model.functions[function].parameters {
        let owner = &model.functions[function];
        let parameter = &owner.variables[which];
        let spread = if owner.is_kernel() {
            Spread::Uniform
        } else {
            Spread::Unknown
        };
        let memory = space(owner, parameter).map(|space| Memory {
            space,
            variable: which,
        });
        let value = Value {
            memory,
            ..Value::of(spread, parameter.ty)
        };
        model.functions[function].variables[which].value = Some(value);
    }
    let count = model.functions[function].variables.len();
    for _ in 0..ROUNDS {
        let mut has_changed = false;
        for which in 0..count {
            let value = joined(model, function, which);
            let variable = &mut model.functions[function].variables[which];
            has_changed |= variable.value != value;
            variable.value = value;
        }
        if !has_changed {
            return;
        }
    }
}

fn joined(model: &Model<'_>, function: usize, which: usize) -> Option<Value> {
    let owner = &model.functions[function];
    let variable = &owner.variables[which];
    if variable.is_array() || variable.is_shared {
        let is_array = variable.is_array();
        let memory = space(owner, variable)
            .filter(|_| is_array)
            .map(|space| Memory {
                space,
                variable: which,
            });
        let ty = if is_array {
            array_pointer(variable.ty)
        } else {
            variable.ty
        };
        return Some(Value {
            memory,
            ..Value::of(Spread::Uniform, ty)
        });
    }
    let mut value = variable.value.filter(|_| variable.is_parameter);
    let left = Cell::new(MOST_EXPANSIONS);
    for definition in &variable.definitions {
        let next = match *definition {
            Definition::Value {
                value: expression,
                at,
            } => {
                let inside = Scope::of(model, Some(function), &left);
                let given = single(model, expression).map(|expression| inside.value(expression, 0));
                given.map(|given| tainted(model, function, at, variable.scope.start, given))
            }
            Definition::Compound {
                operator,
                value: expression,
                at,
            } => {
                let inside = Scope::of(model, Some(function), &left);
                let Some(before) = variable.value else {
                    continue;
                };
                let by = inside.value(expression, 0);
                let operator = model.tree.text(operator).trim_end_matches('=');
                let given = arithmetic(operator, before, by);
                Some(tainted(model, function, at, variable.scope.start, given))
            }
            Definition::Step { at } => {
                let Some(before) = variable.value else {
                    continue;
                };
                let given = before.plus(Value::number(1, Type::INT), false);
                Some(tainted(model, function, at, variable.scope.start, given))
            }
            Definition::Hidden { .. } => Some(Value::UNKNOWN),
        };
        // What has no value yet in this round says nothing.
        let Some(next) = next else { continue };
        value = Some(value.map_or(next, |value| value.or(next)));
    }
    let value = value?;
    if variable.is_constexpr {
        return Some(Value {
            number: value.number,
            is_constant: true,
            ..Value::of(
                Spread::Uniform,
                if variable.is_auto {
                    value.ty
                } else {
                    variable.ty
                },
            )
        });
    }
    Some(Value {
        ty: if variable.is_auto {
            value.ty
        } else {
            variable.ty
        },
        moves: value.moves || variable.moves,
        walks: value.walks || variable.moves,
        number: value.number.filter(|_| !variable.moves),
        is_constant: value.is_constant && !variable.moves,
        ..value
    })
}

/// The expression of `= x`, `{x}` or `(x)`.
fn single(model: &Model<'_>, expression: Id) -> Option<Id> {
    let tree = &model.tree;
    if matches!(
        tree.kind(expression),
        Kind::Arguments | Kind::InitializerList
    ) {
        let mut parts = tree.parts(expression);
        let first = parts.next()?;
        return parts.next().is_none().then_some(first);
    }
    Some(expression)
}

/// What is assigned under a condition that differs between threads differs too, afterwards.
fn tainted(model: &Model<'_>, function: usize, at: Id, declared_at: usize, value: Value) -> Value {
    if !matches!(value.spread, Spread::Uniform | Spread::Warp) {
        return value;
    }
    let tree = &model.tree;
    let left = Cell::new(MOST_EXPANSIONS);
    let inside = Scope::of(model, Some(function), &left);
    let differs = tree
        .above(at)
        .take_while(|above| tree.start(*above) > declared_at || !tree.is(*above, Kind::Compound))
        .filter(|above| tree.is(*above, Kind::If) && tree.start(*above) > declared_at)
        .filter_map(|above| tree.part(above, Role::Condition))
        .any(|condition| inside.value(condition, 0).spread.differs_in_block());
    if differs {
        Value {
            spread: Spread::Data,
            number: None,
            is_constant: false,
            ..value
        }
    } else {
        value
    }
}

/// An expression outside functions.
pub(super) fn outside(model: &Model<'_>, expression: Id) -> Value {
    Scope::of(model, None, &Cell::new(MOST_EXPANSIONS)).value(expression, 0)
}

/// An expression in a function.
pub(super) fn inside(model: &Model<'_>, function: usize, expression: Id) -> Value {
    Scope::of(model, Some(function), &Cell::new(MOST_EXPANSIONS)).value(expression, 0)
}

/// The address of a subscript or of what a pointer leads to; `None` where it is only a part of an array.
pub(super) fn address(model: &Model<'_>, function: usize, expression: Id) -> Option<Value> {
    let left = Cell::new(MOST_EXPANSIONS);
    let scope = Scope::of(model, Some(function), &left);
    let tree = &model.tree;
    if tree.is(expression, Kind::Pointer) {
        return tree
            .part(expression, Role::Argument)
            .map(|pointer| scope.value(pointer, 0));
    }
    let (address, is_whole) = scope.address(expression, 0);
    is_whole.then_some(address)
}

/// Where names mean what they mean.
pub(super) struct Scope<'m, 's> {
    pub(super) model: &'m Model<'s>,
    pub(super) function: Option<usize>,
    /// Values of the parameters, where a call is followed.
    pub(super) arguments: Option<&'m [Value]>,
    /// How many macros and calls may still be followed.
    pub(super) left: &'m Cell<u32>,
}

impl<'m, 's> Scope<'m, 's> {
    fn of(model: &'m Model<'s>, function: Option<usize>, left: &'m Cell<u32>) -> Self {
        Self {
            model,
            function,
            arguments: None,
            left,
        }
    }

    fn owner(&self) -> Option<&'m Function<'s>> {
        self.function.map(|which| &self.model.functions[which])
    }

    pub(super) fn value(&self, expression: Id, depth: usize) -> Value {
        if depth > MOST_DEPTH {
            return Value::UNKNOWN;
        }
        let tree = &self.model.tree;
        let id = tree.bare(expression);
        let part = |role| tree.part(id, role).map(|part| self.value(part, depth + 1));
        match tree.kind(id) {
            Kind::Number | Kind::Char => expand::number(tree.text(id)),
            Kind::True => Value::number(1, Type::of(Base::Bool)),
            Kind::False => Value::number(0, Type::of(Base::Bool)),
            Kind::Identifier => self.identifier(id),
            Kind::Qualified => Value {
                is_constant: true,
                ..Value::of(Spread::Uniform, Type::UNKNOWN)
            },
            Kind::Sizeof => self.size(id),
            Kind::Field => self.member(id, depth),
            Kind::Binary => {
                let (Some(left), Some(right)) = (part(Role::Left), part(Role::Right)) else {
                    return Value::UNKNOWN;
                };
                arithmetic(tree.operator(id), left, right)
            }
            Kind::Unary => {
                let Some(value) = part(Role::Argument) else {
                    return Value::UNKNOWN;
                };
                match tree.operator(id) {
                    "-" => Value::number(0, value.ty).plus(value, true),
                    "+" => value,
                    "!" => {
                        Value::number(0, Type::of(Base::Bool)).mixed(value, Type::of(Base::Bool))
                    }
                    _ => value.mixed(Value::number(0, value.ty), value.ty),
                }
            }
            Kind::Cast => {
                let ty = tree
                    .part(id, Role::Type)
                    .map_or(Type::UNKNOWN, |ty| self.model.types.described(tree, ty));
                part(Role::Value).map_or(Value::UNKNOWN, |value| self.cast(value, ty))
            }
            Kind::Conditional => {
                let parts = (
                    part(Role::Condition),
                    part(Role::Consequence),
                    part(Role::Alternative),
                );
                let (Some(condition), Some(yes), Some(no)) = parts else {
                    return Value::UNKNOWN;
                };
                let is_constant = condition.is_constant && yes.is_constant && no.is_constant;
                let chosen = Value {
                    is_constant,
                    ..yes.or(no)
                };
                if condition.spread == Spread::Uniform || chosen.spread == Spread::Unknown {
                    chosen
                } else {
                    Value {
                        memory: chosen.memory,
                        below: chosen.below,
                        ..condition.mixed(chosen, chosen.ty)
                    }
                }
            }
            Kind::Update => part(Role::Argument).unwrap_or(Value::UNKNOWN),
            Kind::Assignment => part(Role::Right).unwrap_or(Value::UNKNOWN),
            Kind::Subscript => self.subscript(id, depth),
            Kind::Pointer => {
                let Some(argument) = tree.part(id, Role::Argument) else {
                    return Value::UNKNOWN;
                };
                if tree.operator(id) == "&" {
                    let argument = tree.bare(argument);
                    if tree.is(argument, Kind::Identifier) {
                        self.place(argument)
                    } else {
                        self.address(argument, depth).0
                    }
                } else {
                    self.loaded(self.value(argument, depth + 1))
                }
            }
            Kind::Call => self.call(id, depth),
            _ => Value::UNKNOWN,
        }
    }

    fn identifier(&self, id: Id) -> Value {
        let model = self.model;
        let name = model.tree.text(id);
        if let Some(owner) = self.owner() {
            if let Some(which) = owner.resolve(name, model.tree.start(id)) {
                let given = self.arguments.and_then(|arguments| arguments.get(which));
                return given
                    .copied()
                    .or(owner.variables[which].value)
                    .unwrap_or(Value::UNKNOWN);
            }
            if owner.template_parameters.contains(&name) {
                return Value {
                    is_constant: true,
                    ..Value::of(Spread::Uniform, Type::UNKNOWN)
                };
            }
        }
        if name == "warpSize" {
            return Value::number(32, Type::INT);
        }
        if let Some(number) = model.constant(name) {
            return Value::number(number, Type::INT);
        }
        if let Some(ty) = model.globals.get(name)
            && !model.is_fixed(name)
        {
            return Value::of(Spread::Uniform, *ty);
        }
        if let Some(ty) = self.own_member(name) {
            return Value {
                is_constant: ty.is_const && !ty.is_pointer(),
                ..Value::of(Spread::Uniform, ty)
            };
        }
        if let Some(value) = self.named(name) {
            return value;
        }
        // What is defined elsewhere is most often a macro or a constant, and the same for all threads.
        Value {
            is_constant: true,
            ..Value::of(Spread::Uniform, Type::UNKNOWN)
        }
    }

    /// A name in the text of a macro, or one that is no variable: what a macro stands for.
    pub(super) fn named(&self, name: &str) -> Option<Value> {
        let model = self.model;
        if let Some(number) = model.constant(name) {
            return Some(Value::number(number, Type::INT));
        }
        if let Some(known) = model
            .macros
            .get(name)
            .filter(|known| known.parameters.is_none())
        {
            return expand::takes_one(self.left)
                .then(|| expand::text(self, known, &[]))
                .flatten()
                // Text that is not understood may name the thread.
                .or_else(|| known.text.contains("threadIdx").then_some(Value::UNKNOWN));
        }
        expand::double_text(model, name).map(expand::number)
    }

    /// The address of a variable: the same for all threads, unless each has its own.
    fn place(&self, id: Id) -> Value {
        let model = self.model;
        let name = model.tree.text(id);
        let variable = self
            .owner()
            .and_then(|owner| Some(&owner.variables[owner.variable(&model.tree, id)?]));
        let ty = match variable {
            Some(variable) if variable.is_shared => variable.ty,
            Some(_) => return Value::UNKNOWN,
            None => match model.globals.get(name) {
                Some(ty) => *ty,
                None => return Value::UNKNOWN,
            },
        };
        Value::of(Spread::Uniform, array_pointer(ty))
    }

    /// The type of a member of the structure whose function this is.
    fn own_member(&self, name: &str) -> Option<Type> {
        let tree = &self.model.tree;
        let around = tree
            .above(self.owner()?.node)
            .find(|above| matches!(tree.kind(*above), Kind::Struct | Kind::Class))?;
        let own = tree.text(tree.part(around, Role::Name)?);
        let structure = self
            .model
            .types
            .structures
            .iter()
            .find(|known| known.name == own)?;
        let (_, ty) = structure
            .members
            .iter()
            .find(|(member, _)| *member == name)?;
        Some(*ty)
    }

    fn size(&self, id: Id) -> Value {
        let model = self.model;
        let bytes = model
            .tree
            .part(id, Role::Type)
            .map(|ty| model.types.described(&model.tree, ty))
            .and_then(|ty| model.types.bytes(ty))
            .and_then(|bytes| i64::try_from(bytes).ok());
        let ty = Type::of(Base::Integer {
            bytes: 8,
            is_signed: false,
        });
        match bytes {
            Some(bytes) => Value::number(bytes, ty),
            None => Value {
                is_constant: true,
                ..Value::of(Spread::Uniform, ty)
            },
        }
    }

    fn member(&self, id: Id, depth: usize) -> Value {
        let tree = &self.model.tree;
        let (Some(of), Some(member)) = (
            tree.part(id, Role::Argument),
            tree.part(id, Role::FieldName),
        ) else {
            return Value::UNKNOWN;
        };
        let member = tree.text(member);
        if let Some(value) = expand::index(self.grid_variable(of), member) {
            return value;
        }
        let value = self.value(of, depth + 1);
        let is_arrow = tree.operator(id) == "->";
        let base = if is_arrow { self.loaded(value) } else { value };
        let ty = match base.ty.base {
            Base::Structure(which) if !base.ty.is_pointer() => self.model.types.structures[which]
                .members
                .iter()
                .find(|(name, _)| *name == member)
                .map_or(Type::UNKNOWN, |(_, ty)| *ty),
            Base::Vector { bytes: 16 } if matches!(member, "x" | "y" | "z" | "w") => Type::UNKNOWN,
            _ => Type::UNKNOWN,
        };
        Value {
            number: None,
            is_constant: false,
            memory: None,
            below: None,
            ty,
            ..base
        }
    }

    /// `threadIdx` and its like, also where cooperative groups say it in other words.
    fn grid_variable(&self, of: Id) -> &'s str {
        let model = self.model;
        if model.tree.is(of, Kind::Call) {
            return match model.callee(of) {
                "thread_index" => "threadIdx",
                "group_index" => "blockIdx",
                _ => "",
            };
        }
        model.tree.text(of)
    }

    fn cast(&self, value: Value, ty: Type) -> Value {
        if !ty.is_pointer() || !value.ty.is_pointer() && value.memory.is_none() {
            return Value { ty, ..value };
        }
        let types = &self.model.types;
        let sizes = types.bytes(element(value.ty)).zip(types.bytes(element(ty)));
        let spread = match (value.spread, sizes) {
            (Spread::Lane(Factor::Number(0)), _) => value.spread,
            (Spread::Lane(_), Some((from, to))) if from == to => value.spread,
            (Spread::Lane(_), _) => Spread::Lane(Factor::Unknown),
            (spread, _) => spread,
        };
        Value {
            ty,
            spread,
            ..value
        }
    }

    /// What is read through a pointer.
    fn loaded(&self, pointer: Value) -> Value {
        let is_own = matches!(
            pointer.memory,
            Some(Memory {
                space: Space::Local | Space::Unknown,
                ..
            }) | None
        );
        let spread = match pointer.spread {
            Spread::Unknown => Spread::Unknown,
            Spread::Uniform | Spread::Lane(Factor::Number(0)) if !is_own => Spread::Uniform,
            Spread::Warp if !is_own => Spread::Warp,
            _ if is_own => Spread::Unknown,
            _ => Spread::Data,
        };
        Value {
            moves: pointer.moves,
            ..Value::of(spread, element(pointer.ty))
        }
    }

    fn subscript(&self, id: Id, depth: usize) -> Value {
        match self.address(id, depth) {
            (address, true) if address.ty.is_pointer() => self.loaded(address),
            // An array of an array is the address of its first element.
            (address, false) => address,
            _ => Value::UNKNOWN,
        }
    }

    /// The address of what an expression names, its spread in elements, and whether it is that of an element.
    fn address(&self, expression: Id, depth: usize) -> (Value, bool) {
        const NOTHING: (Value, bool) = (Value::UNKNOWN, true);
        if depth > MOST_DEPTH {
            return NOTHING;
        }
        let tree = &self.model.tree;
        let mut id = tree.bare(expression);
        let mut indices = Vec::new();
        while tree.is(id, Kind::Subscript) && indices.len() < 8 {
            let index = tree
                .part(id, Role::Indices)
                .and_then(|list| tree.parts(list).next());
            let (Some(index), Some(of)) = (index, tree.part(id, Role::Argument)) else {
                return NOTHING;
            };
            indices.push(index);
            id = tree.bare(of);
        }
        indices.reverse();
        let base = self.value(id, depth + 1);
        if !base.ty.is_pointer() {
            return NOTHING;
        }
        let variable = self
            .owner()
            .and_then(|owner| Some(&owner.variables[owner.variable(tree, id)?]));
        let sizes = variable.map_or(&[][..], |variable| &variable.sizes[..]);
        if sizes.is_empty() {
            let mut levels = indices.iter();
            let address = levels.next().map_or(base, |index| {
                base.plus(self.value(*index, depth + 1), false)
            });
            // Pointers to pointers lead somewhere else.
            return if levels.next().is_some() {
                NOTHING
            } else {
                (address, true)
            };
        }
        // An array: the pitch of an index is the product of the sizes behind it.
        let mut address = base;
        for (place, index) in indices.iter().enumerate() {
            let mut index = self.value(*index, depth + 1);
            for size in sizes.iter().skip(place + 1) {
                let pitch = size.map_or(Value::UNKNOWN, |size| self.value(size, depth + 1));
                index = index.times(pitch);
            }
            address = address.plus(index, false);
        }
        (address, indices.len() >= sizes.len())
    }

    fn call(&self, id: Id, depth: usize) -> Value {
        let model = self.model;
        let tree = &model.tree;
        let name = model.callee(id);
        let function = tree.part(id, Role::Function);
        // `float(x)` and `static_cast<float>(x)`.
        let target = match function.map(|function| tree.kind(function)) {
            Some(Kind::PrimitiveType | Kind::SizedType) => {
                function.map(|ty| model.types.described(tree, ty))
            }
            Some(Kind::TemplateFunction) if name.ends_with("_cast") => function
                .and_then(|function| tree.part(function, Role::Arguments))
                .and_then(|list| tree.parts(list).next())
                .map(|ty| model.types.described(tree, ty)),
            _ => {
                let ty = model.types.by_name(name);
                (ty != Type::UNKNOWN).then_some(ty)
            }
        };
        let mut arguments = model.arguments(id);
        if let Some(ty) = target {
            return arguments.next().map_or(Value::UNKNOWN, |argument| {
                self.cast(self.value(argument, depth + 1), ty)
            });
        }
        match name {
            "__ldg" | "__ldcs" | "__ldcg" | "__ldca" => {
                return arguments.next().map_or(Value::UNKNOWN, |pointer| {
                    self.loaded(self.value(pointer, depth + 1))
                });
            }
            // Of a block, a grid or a tile: all count along x first.
            "thread_rank" if !model.by_name.contains_key(name) => {
                return Value::of(Spread::Lane(Factor::Number(1)), Type::INT);
            }
            "__syncthreads_or" | "__syncthreads_and" | "__syncthreads_count" => {
                return Value::of(Spread::Uniform, Type::INT);
            }
            "__ballot_sync" | "__any_sync" | "__all_sync" | "__activemask" => {
                return Value::of(Spread::Warp, Type::INT);
            }
            _ => {}
        }
        if !is_pure(name) || model.by_name.contains_key(name) || model.macros.contains_key(name) {
            if let Some(value) = self.expanded(id, name, depth) {
                return value;
            }
            return Value {
                ty: result(name),
                ..Value::UNKNOWN
            };
        }
        let mut whole: Option<Value> = None;
        for argument in arguments {
            let value = self.value(argument, depth + 1);
            let ty = whole.map_or(value.ty, |whole| {
                if whole.ty == value.ty {
                    value.ty
                } else {
                    Type::UNKNOWN
                }
            });
            whole = Some(whole.map_or(
                Value {
                    below: None,
                    number: None,
                    ..value
                },
                |whole| whole.mixed(value, ty),
            ));
        }
        let whole = whole.unwrap_or(Value::UNKNOWN);
        let spread = match whole.spread {
            Spread::Lane(_) => Spread::Data,
            spread => spread,
        };
        let ty = match result(name) {
            // Of integers there is only the version for `double`.
            Type::UNKNOWN if is_generic(name) && whole.ty.integer_bytes().is_some() => {
                Type::of(Base::Float { bytes: 8 })
            }
            Type::UNKNOWN => whole.ty,
            ty => ty,
        };
        Value {
            spread,
            ty,
            number: None,
            ..whole
        }
    }
}

impl Scope<'_, '_> {
    /// What a macro or a function of one expression gives.
    fn expanded(&self, id: Id, name: &str, depth: usize) -> Option<Value> {
        let model = self.model;
        let known = model.macros.get(name);
        if known.is_none() && expand::returned(model, name).is_none()
            || !expand::takes_one(self.left)
        {
            return None;
        }
        let values: Vec<Value> = model
            .arguments(id)
            .take(16)
            .map(|argument| self.value(argument, depth + 1))
            .collect();
        match known {
            Some(known) => expand::text(self, known, &values),
            None => expand::call(self, name, &values, depth),
        }
    }
}

/// Functions of C++'s library that come for `float` and for `double`.
fn is_generic(name: &str) -> bool {
    matches!(
        name,
        "sqrt"
            | "rsqrt"
            | "exp"
            | "exp2"
            | "log"
            | "log2"
            | "log10"
            | "sin"
            | "cos"
            | "tan"
            | "tanh"
            | "erf"
            | "cbrt"
            | "pow"
            | "fabs"
            | "floor"
            | "ceil"
            | "round"
            | "trunc"
            | "fmin"
            | "fmax"
            | "fmod"
            | "atan"
            | "atan2"
            | "asin"
            | "acos"
            | "sinh"
            | "cosh"
            | "hypot"
    )
}

/// Functions whose result depends on nothing but their arguments.
pub(crate) fn is_pure(name: &str) -> bool {
    is_generic(name)
        || matches!(
            name,
            "min"
                | "max"
                | "abs"
                | "__mul24"
                | "__umul24"
                | "__popc"
                | "__ffs"
                | "__clz"
                | "__brev"
        )
        || result(name) != Type::UNKNOWN
}

/// The type of a function of CUDA's mathematical library; unknown for others and where it depends on the arguments.
fn result(name: &str) -> Type {
    let float = Type::of(Base::Float { bytes: 4 });
    match name {
        "fmaf" | "sqrtf" | "rsqrtf" | "expf" | "logf" | "sinf" | "cosf" | "tanf" | "tanhf"
        | "powf" | "fabsf" | "fminf" | "fmaxf" | "floorf" | "ceilf" | "roundf" | "rintf"
        | "fmodf" | "exp2f" | "log2f" | "log10f" | "erff" | "atan2f" | "__expf" | "__logf"
        | "__sinf" | "__cosf" | "__powf" | "__fdividef" | "__frcp_rn" | "__fsqrt_rn"
        | "__int2float_rn" | "__half2float" => float,
        "__float2int_rn" | "__float2int_rd" | "__float2int_rz" => Type::INT,
        _ => Type::UNKNOWN,
    }
}

fn array_pointer(ty: Type) -> Type {
    Type {
        pointers: ty.pointers.saturating_add(1),
        is_reference: false,
        ..ty
    }
}

fn element(ty: Type) -> Type {
    ty.pointee()
}

pub(super) fn arithmetic(operator: &str, left: Value, right: Value) -> Value {
    match operator {
        "+" => left.plus(right, false),
        "-" => left.plus(right, true),
        "*" => left.times(right),
        "/" => left.divided(right),
        "%" => left.remainder(right),
        "<<" => match right
            .number
            .and_then(|by| 1_i64.checked_shl(u32::try_from(by).ok()?))
        {
            Some(factor) => Value {
                ty: left.ty,
                ..left.times(Value::number(factor, Type::INT))
            },
            None => left.mixed(right, left.ty),
        },
        ">>" => {
            let bits = left.ty.integer_bytes().map(|bytes| 8 * i64::from(bytes));
            let below = bits
                .zip(right.number)
                .and_then(|(bits, by)| 1_u64.checked_shl(u32::try_from(bits - by).ok()?));
            match right
                .number
                .and_then(|by| 1_i64.checked_shl(u32::try_from(by).ok()?))
            {
                Some(divisor) => Value {
                    ty: left.ty,
                    below,
                    ..left.divided(Value::number(divisor, Type::INT))
                },
                None => left.mixed(right, left.ty),
            }
        }
        "&" => {
            let mask = left.number.or(right.number);
            let other = if left.number.is_some() { right } else { left };
            match mask.and_then(|mask| mask.checked_add(1)) {
                // `& 31` is `% 32`.
                Some(size) if size > 1 && size.count_ones() == 1 => Value {
                    ty: other.ty,
                    ..other.remainder(Value::number(size, Type::INT))
                },
                _ => left.mixed(right, left.ty),
            }
        }
        "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" => {
            left.mixed(right, Type::of(Base::Bool))
        }
        "|" | "^" => left.mixed(right, left.ty),
        _ => Value::UNKNOWN,
    }
}

/// An integer literal.
pub(crate) fn literal(text: &str) -> Option<i64> {
    let digits: String = text
        .trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z'])
        .chars()
        .filter(|c| *c != '\'')
        .take(24)
        .collect();
    if let Some(hex) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return i64::from_str_radix(hex, 16).ok();
    }
    if let Some(binary) = digits.strip_prefix("0b") {
        return i64::from_str_radix(binary, 2).ok();
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return i64::from_str_radix(&digits, 8).ok();
    }
    digits.parse().ok()
}
