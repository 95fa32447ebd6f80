//! What the rules share: functions, types, constants, launches, and how values differ from thread to thread.

pub(crate) mod evaluate;
mod expand;
pub(crate) mod function;
pub(crate) mod host;
pub(crate) mod types;
pub(crate) mod value;

use std::collections::{HashMap, HashSet};

pub(crate) use expand::{Macro, double_text, returned};
pub(crate) use function::{Function, Runs, is_loop};
pub(crate) use types::{Base, Type, Types};
pub(crate) use value::{Factor, Memory, Space, Spread, Value};

use crate::syntax::{Id, Kind, Role, Tree};

/// A file, understood as far as it can be alone.
#[derive(Debug)]
pub(crate) struct Model<'s> {
    pub(crate) tree: Tree<'s>,
    pub(crate) types: Types<'s>,
    pub(crate) functions: Vec<Function<'s>>,
    /// Constants whose number is known.
    constants: HashMap<&'s str, i64>,
    /// Names that stand for constants, also where their number is not known.
    fixed: HashSet<&'s str>,
    /// Variables of the file that are no arrays, with their types.
    pub(crate) globals: HashMap<&'s str, Type>,
    pub(crate) launches: Vec<Launch<'s>>,
    /// Functions by their names; overloads have several.
    pub(crate) by_name: HashMap<&'s str, Vec<usize>>,
    /// Macros with what they stand for; those that are defined twice stand for nothing that is known.
    pub(crate) macros: HashMap<&'s str, Macro<'s>>,
    /// Places among the launches, by the kernel.
    launches_of: HashMap<&'s str, Vec<usize>>,
}

/// A place where a kernel is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'s> {
    pub(crate) kernel: &'s str,
    pub(crate) grid: Id,
    pub(crate) block: Id,
    pub(crate) arguments: Vec<Id>,
    /// The function in which it stands.
    pub(crate) function: Option<usize>,
}

impl<'s> Model<'s> {
    pub(crate) fn of(tree: Tree<'s>) -> Self {
        let mut types = Types::default();
        types.learn(&tree);
        let mut model = Self {
            types,
            functions: Vec::new(),
            constants: HashMap::new(),
            fixed: HashSet::new(),
            globals: HashMap::new(),
            launches: Vec::new(),
            by_name: HashMap::new(),
            macros: HashMap::new(),
            launches_of: HashMap::new(),
            tree,
        };
        model.learn_names();
        model.learn_functions();
        model.learn_launches();
        for which in 0..model.functions.len() {
            evaluate::settle(&mut model, which);
        }
        model
    }

    /// The function around a node.
    pub(crate) fn function_at(&self, id: Id) -> Option<usize> {
        let end = self
            .functions
            .partition_point(|function| function.node <= id);
        let which = end.checked_sub(1)?;
        self.tree
            .is_within(id, self.functions[which].node)
            .then_some(which)
    }

    /// The name of what a call calls, without namespaces and template arguments.
    pub(crate) fn callee(&self, call: Id) -> &'s str {
        let tree = &self.tree;
        let mut at = tree.part(call, Role::Function);
        for _ in 0..16 {
            let Some(id) = at else { break };
            match tree.kind(id) {
                Kind::Qualified | Kind::TemplateFunction => at = tree.part(id, Role::Name),
                Kind::Field => at = tree.part(id, Role::FieldName),
                _ => return tree.text(id),
            }
        }
        ""
    }

    pub(crate) fn arguments(&self, call: Id) -> impl Iterator<Item = Id> + '_ {
        self.tree
            .part(call, Role::Arguments)
            .into_iter()
            .flat_map(|list| self.tree.parts(list))
    }

    fn learn_names(&mut self) {
        let tree = &self.tree;
        let mut seen_twice = HashSet::new();
        let mut values: Vec<(&'s str, Id)> = Vec::new();
        for id in tree.below(tree.root()) {
            match tree.kind(id) {
                Kind::PreprocDefine => {
                    let Some(name) = tree.part(id, Role::Name) else {
                        continue;
                    };
                    let name = tree.text(name);
                    let number = tree
                        .part(id, Role::Value)
                        .and_then(|value| evaluate::literal(strip(tree.text(value))));
                    let text = tree
                        .part(id, Role::Value)
                        .map_or("", |value| tree.text(value));
                    self.macros.insert(
                        name,
                        Macro {
                            parameters: None,
                            text,
                        },
                    );
                    if !self.fixed.insert(name) {
                        seen_twice.insert(name);
                    }
                    if let Some(number) = number {
                        self.constants.insert(name, number);
                    }
                }
                Kind::PreprocFunction => {
                    let Some(name) = tree.part(id, Role::Name).map(|name| tree.text(name)) else {
                        continue;
                    };
                    let list = tree.part(id, Role::Parameters);
                    let parameters = list.into_iter().flat_map(|list| tree.parts(list));
                    let known = Macro {
                        parameters: Some(
                            parameters.map(|parameter| tree.text(parameter)).collect(),
                        ),
                        text: tree
                            .part(id, Role::Value)
                            .map_or("", |value| tree.text(value)),
                    };
                    if self.macros.insert(name, known).is_some() {
                        seen_twice.insert(name);
                    }
                }
                Kind::Enumerator => {
                    if let Some(name) = tree.part(id, Role::Name) {
                        self.fixed.insert(tree.text(name));
                        if let Some(value) = tree.part(id, Role::Value) {
                            values.push((tree.text(name), value));
                        }
                    }
                }
                Kind::Declaration => {
                    let is_inside = tree.above(id).any(|above| tree.is(above, Kind::Compound));
                    if is_inside {
                        continue;
                    }
                    let written = self.types.written(tree, id);
                    for part in tree
                        .children(id)
                        .filter(|part| tree.role(*part) == Role::Declarator)
                    {
                        let Some(declared) = types::declared(tree, part, written) else {
                            continue;
                        };
                        if declared.is_function {
                            continue;
                        }
                        let name = tree.text(declared.name);
                        let is_array = !declared.sizes.is_empty();
                        if !is_array {
                            self.globals.insert(name, declared.ty);
                        }
                        if written.is_const && !is_array && !declared.ty.is_pointer() {
                            self.fixed.insert(name);
                            values.extend(declared.value.map(|value| (name, value)));
                        }
                    }
                }
                _ => {}
            }
        }
        for name in seen_twice {
            self.constants.remove(name);
            if let Some(known) = self.macros.get_mut(name) {
                known.text = "";
            }
        }
        // Each may use those before it.
        for (name, value) in values {
            if let Some(number) = evaluate::outside(self, value).number {
                self.constants.insert(name, number);
            }
        }
    }

    fn learn_functions(&mut self) {
        let tree = &self.tree;
        let mut end = tree.root();
        let mut functions = Vec::new();
        let shared = function::shared_arrays(tree, &self.types);
        for id in tree.below(tree.root()) {
            // What is defined inside a function belongs to it.
            if id < end || !tree.is(id, Kind::FunctionDefinition) {
                continue;
            }
            if let Some(mut function) = Function::read(tree, &self.types, id) {
                end = tree.after(id);
                if function.is_device() {
                    function.share(tree, &shared);
                }
                functions.push(function);
            }
        }
        for (which, function) in functions.iter().enumerate() {
            self.by_name.entry(function.name).or_default().push(which);
        }
        self.functions = functions;
    }

    fn learn_launches(&mut self) {
        let tree = &self.tree;
        let mut launches = Vec::new();
        for id in tree.below(tree.root()) {
            if !tree.is(id, Kind::KernelCall) {
                continue;
            }
            let Some(call) = tree.parent(id).filter(|call| tree.is(*call, Kind::Call)) else {
                continue;
            };
            let mut parts = tree.parts(id);
            let (Some(grid), Some(block)) = (parts.next(), parts.next()) else {
                continue;
            };
            launches.push(Launch {
                kernel: self.callee(call),
                grid,
                block,
                arguments: self.arguments(call).collect(),
                function: self.function_at(call),
            });
        }
        for (which, launch) in launches.iter().enumerate() {
            self.launches_of
                .entry(launch.kernel)
                .or_default()
                .push(which);
        }
        self.launches = launches;
    }

    /// The extents of a launch's block, as far as they are constants: one number, `dim3(…)`, or a variable of one of these.
    pub(crate) fn extents(&self, launch: &Launch<'s>, expression: Id) -> [Option<i64>; 3] {
        let tree = &self.tree;
        let at = tree.bare(expression);
        let number = |id: Id| match launch.function {
            Some(which) => self.value(which, id).number,
            None => evaluate::outside(self, id).number,
        };
        let listed = |list: Id| {
            let mut parts = tree.parts(list);
            let mut next = || parts.next().map_or(Some(1), number);
            [next(), next(), next()]
        };
        match tree.kind(at) {
            Kind::Call if self.callee(at) == "dim3" => {
                tree.part(at, Role::Arguments).map_or([None; 3], listed)
            }
            Kind::CompoundLiteral => tree.part(at, Role::Value).map_or([None; 3], listed),
            Kind::InitializerList => listed(at),
            Kind::Identifier => {
                let Some(function) = launch.function.and_then(|which| self.functions.get(which))
                else {
                    return [number(at), Some(1), Some(1)];
                };
                let Some(variable) = function
                    .variable(tree, at)
                    .map(|which| &function.variables[which])
                else {
                    return [number(at), Some(1), Some(1)];
                };
                let is_dim3 = tree.parent(variable.node).is_some_and(|above| {
                    tree.above(above)
                        .take(2)
                        .chain([above])
                        .filter_map(|above| tree.part(above, Role::Type))
                        .any(|ty| tree.text(ty) == "dim3")
                });
                if !is_dim3 {
                    return [number(at), Some(1), Some(1)];
                }
                // Members that are assigned later would have to be followed.
                match variable.definitions.as_slice() {
                    [function::Definition::Value { value, .. }]
                        if !self.has_member_writes(function, variable.name) =>
                    {
                        match tree.kind(*value) {
                            Kind::Arguments | Kind::InitializerList => listed(*value),
                            Kind::Call if self.callee(*value) == "dim3" => {
                                tree.part(*value, Role::Arguments).map_or([None; 3], listed)
                            }
                            _ => [number(*value), Some(1), Some(1)],
                        }
                    }
                    _ => [None; 3],
                }
            }
            _ => [number(at), Some(1), Some(1)],
        }
    }

    fn has_member_writes(&self, function: &Function<'s>, name: &str) -> bool {
        let tree = &self.tree;
        tree.below(function.body).any(|id| {
            tree.is(id, Kind::Assignment)
                && tree.part(id, Role::Left).is_some_and(|left| {
                    tree.is(left, Kind::Field)
                        && tree
                            .part(left, Role::Argument)
                            .is_some_and(|base| tree.text(base) == name)
                })
        })
    }

    /// The extent in x of the blocks of a kernel, where all launches in the file agree on one.
    pub(crate) fn block_width(&self, kernel: &Function<'s>) -> Option<i64> {
        let mut launches = self.launches_of(kernel.name).take(16);
        let first = launches.next()?;
        let width = self.extents(first, first.block)[0]?;
        launches
            .all(|launch| self.extents(launch, launch.block)[0] == Some(width))
            .then_some(width)
    }

    /// The launches of a kernel.
    pub(crate) fn launches_of(&self, kernel: &str) -> impl Iterator<Item = &Launch<'s>> {
        let places = self.launches_of.get(kernel);
        places
            .into_iter()
            .flatten()
            .map(|which| &self.launches[*which])
    }

    /// Whether a name stands for a constant.
    pub(crate) fn is_fixed(&self, name: &str) -> bool {
        self.fixed.contains(name)
    }

    pub(crate) fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }

    /// The address of an access in a function: its spread counts elements. `None` for an array that is part of another.
    pub(crate) fn address(&self, function: usize, expression: Id) -> Option<Value> {
        evaluate::address(self, function, expression)
    }

    /// What is known of an expression in a function.
    pub(crate) fn value(&self, function: usize, expression: Id) -> Value {
        evaluate::inside(self, function, expression)
    }
}

/// The value of a macro without comment and parentheses.
fn strip(text: &str) -> &str {
    let end = text
        .find("//")
        .or_else(|| text.find("/*"))
        .unwrap_or(text.len());
    text.get(..end)
        .unwrap_or(text)
        .trim()
        .trim_start_matches('(')
        .trim_end_matches(')')
        .trim()
}
