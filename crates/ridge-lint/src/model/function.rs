//! Functions with their parameters and variables.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::types::{Type, Types, declared};
use super::value::{Space, Value};
use crate::syntax::{Id, Kind, Role, Tree};

/// Where a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    Kernel,
    Device,
    Host,
    /// `__host__ __device__`.
    Both,
}

/// One place where a variable gets a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Definition {
    /// `= expression`
    Value { value: Id, at: Id },
    /// `operator= expression`
    Compound { operator: Id, value: Id, at: Id },
    /// `++` or `--`
    Step { at: Id },
    /// In a way that is not followed.
    Hidden { at: Id },
}

impl Definition {
    pub(crate) fn at(self) -> Id {
        match self {
            Self::Value { at, .. }
            | Self::Compound { at, .. }
            | Self::Step { at }
            | Self::Hidden { at } => at,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Variable<'s> {
    pub(crate) name: &'s str,
    pub(crate) node: Id,
    /// Where the name means this variable.
    pub(crate) scope: Range<usize>,
    pub(crate) ty: Type,
    /// Sizes of an array, outermost first; absent where not given.
    pub(crate) sizes: Vec<Option<Id>>,
    pub(crate) is_parameter: bool,
    pub(crate) is_shared: bool,
    pub(crate) is_static: bool,
    pub(crate) is_constant: bool,
    /// Its value is known when it is compiled, maybe not here.
    pub(crate) is_constexpr: bool,
    /// The preprocessor chooses between several declarations of its name.
    pub(crate) is_one_of_several: bool,
    /// Its type is that of its value.
    pub(crate) is_auto: bool,
    pub(crate) definitions: Vec<Definition>,
    /// Whether one of them is in a loop that the declaration is not in.
    pub(crate) moves: bool,
    pub(crate) value: Option<Value>,
}

impl Variable<'_> {
    pub(crate) fn is_array(&self) -> bool {
        !self.sizes.is_empty()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function<'s> {
    pub(crate) name: &'s str,
    pub(crate) node: Id,
    pub(crate) body: Id,
    pub(crate) runs: Runs,
    /// The first expression of `__launch_bounds__`.
    pub(crate) bounds: Option<Id>,
    pub(crate) variables: Vec<Variable<'s>>,
    /// How many of the variables are parameters; they come first.
    pub(crate) parameters: usize,
    pub(crate) template_parameters: Vec<&'s str>,
    by_name: HashMap<&'s str, Vec<usize>>,
}

/// Variables of one name, and steps of a walk, that are looked at.
const MOST_STEPS: usize = 64;

impl<'s> Function<'s> {
    /// Reads a definition; `None` where it has no name or no body.
    pub(crate) fn read(tree: &Tree<'s>, types: &Types<'s>, node: Id) -> Option<Self> {
        let body = tree
            .part(node, Role::Body)
            .filter(|body| tree.is(*body, Kind::Compound))?;
        let declarator = tree.part(node, Role::Declarator)?;
        let whole = declared(tree, declarator, Type::UNKNOWN).filter(|whole| whole.is_function)?;
        let mut name_node = whole.name;
        while let Some(inner) = tree
            .part(name_node, Role::Name)
            .filter(|_| tree.is(name_node, Kind::Qualified))
        {
            name_node = inner;
        }
        let runs = runs(tree, node, body);
        let bounds = tree
            .children(node)
            .find(|part| tree.is(*part, Kind::LaunchBounds))
            .and_then(|bounds| tree.parts(bounds).next());
        let template_parameters = template_parameters(tree, node);
        let mut function = Self {
            name: tree.text(name_node),
            node,
            body,
            runs,
            bounds,
            variables: Vec::new(),
            parameters: 0,
            template_parameters,
            by_name: HashMap::new(),
        };
        function.learn_variables(tree, types, declarator);
        function.learn_definitions(tree);
        Some(function)
    }

    pub(crate) fn is_kernel(&self) -> bool {
        self.runs == Runs::Kernel
    }

    /// Whether threads of a GPU run it, and nobody else.
    pub(crate) fn is_device(&self) -> bool {
        matches!(self.runs, Runs::Kernel | Runs::Device)
    }

    /// Makes arrays in shared memory of the file known to a function, unless it has variables of their names.
    pub(crate) fn share(&mut self, tree: &Tree<'s>, arrays: &[Variable<'s>]) {
        for array in arrays {
            if !self.by_name.contains_key(array.name) {
                let which = self.variables.len();
                self.by_name.insert(array.name, vec![which]);
                self.variables.push(Variable {
                    scope: tree.range(self.body),
                    ..array.clone()
                });
            }
        }
    }

    /// The variable that a name means at a place.
    pub(crate) fn resolve(&self, name: &str, at: usize) -> Option<usize> {
        let candidates = self.by_name.get(name)?;
        let end = candidates.partition_point(|which| self.variables[*which].scope.start <= at);
        candidates[..end]
            .iter()
            .rev()
            .take(MOST_STEPS)
            .find(|which| self.variables[**which].scope.contains(&at))
            .copied()
    }

    pub(crate) fn variable(&self, tree: &Tree<'s>, identifier: Id) -> Option<usize> {
        if !tree.is(identifier, Kind::Identifier) {
            return None;
        }
        self.resolve(tree.text(identifier), tree.start(identifier))
    }

    fn learn_variables(&mut self, tree: &Tree<'s>, types: &Types<'s>, declarator: Id) {
        let own = std::iter::once(declarator).chain(tree.below(declarator));
        let list = own.into_iter().find(|id| tree.is(*id, Kind::Parameters));
        for parameter in list.into_iter().flat_map(|list| tree.parts(list)) {
            let scope = tree.start(parameter)..tree.end(self.body);
            self.declare(tree, types, parameter, scope, true);
        }
        self.parameters = self.variables.len();
        for id in tree.below(self.body) {
            match tree.kind(id) {
                Kind::Declaration | Kind::ForRange => {
                    let end = scope_end(tree, id, self.body);
                    self.declare(tree, types, id, tree.start(id)..end, false);
                }
                Kind::Parameter | Kind::OptionalParameter => {
                    let lambda = tree
                        .above(id)
                        .take(4)
                        .find(|above| tree.is(*above, Kind::Lambda));
                    if let Some(lambda) = lambda {
                        self.declare(tree, types, id, tree.start(id)..tree.end(lambda), false);
                        if let Some(variable) = self
                            .variables
                            .last_mut()
                            .filter(|variable| tree.is_within(variable.node, id))
                        {
                            variable.definitions.push(Definition::Hidden { at: id });
                        }
                    }
                }
                Kind::FunctionDefinition => self.named_by_macro(tree, id),
                _ => {}
            }
        }
        for (which, variable) in self.variables.iter().enumerate() {
            self.by_name.entry(variable.name).or_default().push(which);
        }
        // One block declares a name once, unless the preprocessor chooses.
        for places in self.by_name.values().filter(|places| places.len() > 1) {
            let mut ends = HashSet::new();
            let mut several = HashSet::new();
            for which in places {
                let end = self.variables[*which].scope.end;
                if !ends.insert(end) {
                    several.insert(end);
                }
            }
            for which in places {
                let variable = &mut self.variables[*which];
                variable.is_one_of_several = several.contains(&variable.scope.end);
            }
        }
    }

    /// The names that a macro such as `KERNEL_LOOP(i, n)` may declare for the block behind it. It looks like a function without a type.
    fn named_by_macro(&mut self, tree: &Tree<'s>, block: Id) {
        let list = tree
            .part(block, Role::Declarator)
            .filter(|_| tree.part(block, Role::Type).is_none())
            .and_then(|declarator| tree.part(declarator, Role::Parameters));
        let names = list
            .into_iter()
            .flat_map(|list| tree.parts(list))
            .filter_map(|part| {
                let name = tree.part(part, Role::Type)?;
                let is_alone = tree.is(name, Kind::TypeIdentifier)
                    && tree.part(part, Role::Declarator).is_none();
                is_alone.then_some(name)
            });
        for node in names.take(4) {
            let name = tree.text(node);
            let is_known = || {
                self.variables
                    .iter()
                    .rev()
                    .take(MOST_STEPS)
                    .any(|known| known.name == name)
            };
            if !name.bytes().any(|byte| byte.is_ascii_lowercase()) || is_known() {
                continue;
            }
            self.variables.push(Variable {
                name,
                node,
                scope: tree.range(block),
                ty: Type::UNKNOWN,
                sizes: Vec::new(),
                is_parameter: false,
                is_shared: false,
                is_static: false,
                is_constant: false,
                is_constexpr: false,
                is_one_of_several: false,
                is_auto: false,
                definitions: vec![Definition::Hidden { at: node }],
                moves: false,
                value: None,
            });
        }
    }

    fn declare(
        &mut self,
        tree: &Tree<'s>,
        types: &Types<'s>,
        id: Id,
        scope: Range<usize>,
        is_parameter: bool,
    ) {
        declared_by(tree, types, id, &scope, is_parameter, &mut self.variables);
    }

    fn learn_definitions(&mut self, tree: &Tree<'s>) {
        for id in tree.below(self.body) {
            let (target, definition) = match tree.kind(id) {
                Kind::Assignment => {
                    let (Some(left), Some(value)) =
                        (tree.part(id, Role::Left), tree.part(id, Role::Right))
                    else {
                        continue;
                    };
                    let operator = tree.part(id, Role::Operator);
                    let definition = match operator.filter(|operator| tree.text(*operator) != "=") {
                        Some(operator) => Definition::Compound {
                            operator,
                            value,
                            at: id,
                        },
                        None => Definition::Value { value, at: id },
                    };
                    (left, definition)
                }
                Kind::Update => {
                    let Some(target) = tree.part(id, Role::Argument) else {
                        continue;
                    };
                    (target, Definition::Step { at: id })
                }
                // Whoever has the address writes when it likes.
                Kind::Pointer if tree.operator(id) == "&" => {
                    let Some(target) = tree.part(id, Role::Argument) else {
                        continue;
                    };
                    (target, Definition::Hidden { at: id })
                }
                _ => continue,
            };
            if let Some(which) = self.variable(tree, tree.bare(target)) {
                self.variables[which].definitions.push(definition);
            }
        }
        for id in tree.below(self.body).filter(|id| tree.is(*id, Kind::Call)) {
            self.results_of(tree, id);
        }
        for which in 0..self.variables.len() {
            let variable = &self.variables[which];
            let start = variable.scope.start;
            let moves = variable.definitions.iter().take(MOST_STEPS).any(|definition| {
                !matches!(definition, Definition::Value { at, .. } if tree.is(*at, Kind::InitDeclarator))
                    && tree
                        .above(definition.at())
                        .take_while(|above| *above > self.body)
                        .any(|above| is_loop(tree, above) && (tree.start(above) <= start || tree.end(above) > start) && is_in_round(tree, definition.at(), above, start))
            });
            self.variables[which].moves = moves;
        }
    }

    /// A variable without a value that is handed to a function gets one there.
    fn results_of(&mut self, tree: &Tree<'s>, call: Id) {
        let Some(arguments) = tree.part(call, Role::Arguments) else {
            return;
        };
        let handed: Vec<usize> = tree
            .parts(arguments)
            .filter_map(|argument| self.variable(tree, argument))
            .collect();
        for which in handed {
            let variable = &mut self.variables[which];
            if variable.definitions.is_empty() && !variable.is_parameter && !variable.is_array() {
                variable.definitions.push(Definition::Hidden { at: call });
            }
        }
    }
}

/// The variables of a declaration.
fn declared_by<'s>(
    tree: &Tree<'s>,
    types: &Types<'s>,
    id: Id,
    scope: &Range<usize>,
    is_parameter: bool,
    variables: &mut Vec<Variable<'s>>,
) {
    let written = types.written(tree, id);
    let has = |word: &str| {
        tree.children(id)
            .take_while(|part| tree.role(*part) != Role::Declarator)
            .any(|part| tree.text(part) == word)
    };
    let (is_shared, is_static) = (has("__shared__"), has("static"));
    let is_constexpr = has("constexpr");
    let is_constant = has("const") || is_constexpr;
    let is_range = tree.is(id, Kind::ForRange);
    let is_auto = tree
        .part(id, Role::Type)
        .is_some_and(|ty| tree.is(ty, Kind::Auto));
    for part in tree
        .children(id)
        .filter(|part| tree.role(*part) == Role::Declarator)
    {
        let Some(mut declared) = declared(tree, part, written) else {
            continue;
        };
        if declared.is_function || !tree.is(declared.name, Kind::Identifier) {
            continue;
        }
        if is_parameter && !declared.sizes.is_empty() && !declared.ty.is_reference {
            declared.ty.pointers = declared.ty.pointers.saturating_add(1);
            declared.sizes.clear();
        }
        let mut definitions = Vec::new();
        if is_range {
            definitions.push(Definition::Hidden { at: id });
        } else if let Some(value) = declared.value.filter(|_| !is_parameter) {
            definitions.push(Definition::Value { value, at: part });
        }
        variables.push(Variable {
            name: tree.text(declared.name),
            node: declared.name,
            scope: scope.clone(),
            ty: declared.ty,
            sizes: declared.sizes,
            is_parameter,
            is_shared,
            is_static,
            is_constant,
            is_constexpr,
            is_one_of_several: false,
            is_auto,
            definitions,
            moves: false,
            value: None,
        });
    }
}

/// How many arrays in shared memory a file may have outside functions.
const MOST_SHARED: usize = 8;

/// Arrays in shared memory that are declared outside functions: `extern __shared__ float s[];`.
pub(crate) fn shared_arrays<'s>(tree: &Tree<'s>, types: &Types<'s>) -> Vec<Variable<'s>> {
    let mut arrays = Vec::new();
    for id in tree.below(tree.root()) {
        let is_outside = || !tree.above(id).any(|above| tree.is(above, Kind::Compound));
        let is_shared = || {
            tree.children(id)
                .any(|part| tree.text(part) == "__shared__")
        };
        if tree.is(id, Kind::Declaration) && is_shared() && is_outside() {
            declared_by(tree, types, id, &(0..0), false, &mut arrays);
        }
    }
    arrays.truncate(MOST_SHARED);
    arrays
}

/// Whether a definition is repeated by a loop around it while the variable lives on.
fn is_in_round(tree: &Tree<'_>, definition: Id, of: Id, declared_at: usize) -> bool {
    let body = tree.part(of, Role::Body);
    let is_declared_in_body = body.is_some_and(|body| tree.range(body).contains(&declared_at));
    let is_initializer = tree
        .part(of, Role::Initializer)
        .is_some_and(|initializer| tree.is_within(definition, initializer));
    !is_declared_in_body && !is_initializer
}

pub(crate) fn is_loop(tree: &Tree<'_>, id: Id) -> bool {
    matches!(
        tree.kind(id),
        Kind::For | Kind::While | Kind::DoStatement | Kind::ForRange
    )
}

fn scope_end(tree: &Tree<'_>, id: Id, body: Id) -> usize {
    tree.above(id)
        .find(|above| {
            matches!(
                tree.kind(*above),
                Kind::Compound | Kind::For | Kind::If | Kind::While | Kind::Switch | Kind::ForRange
            )
        })
        .map_or(tree.end(body), |above| tree.end(above))
        .max(if tree.is(id, Kind::ForRange) {
            tree.end(id)
        } else {
            0
        })
}

fn runs(tree: &Tree<'_>, node: Id, body: Id) -> Runs {
    let (mut is_host, mut is_device) = (false, false);
    for part in tree.children(node).take_while(|part| *part < body) {
        match tree.text(part) {
            "__global__" => return Runs::Kernel,
            "__device__" => is_device = true,
            "__host__" => is_host = true,
            _ => {}
        }
    }
    match (is_device, is_host) {
        (true, true) => Runs::Both,
        (true, false) => Runs::Device,
        _ => Runs::Host,
    }
}

fn template_parameters<'s>(tree: &Tree<'s>, node: Id) -> Vec<&'s str> {
    let Some(above) = tree
        .parent(node)
        .filter(|above| tree.is(*above, Kind::Template))
    else {
        return Vec::new();
    };
    tree.part(above, Role::Parameters)
        .into_iter()
        .flat_map(|list| tree.parts(list))
        .filter_map(|parameter| {
            tree.below(parameter)
                .filter(|id| matches!(tree.kind(*id), Kind::Identifier | Kind::TypeIdentifier))
                .last()
                .map(|name| tree.text(name))
        })
        .collect()
}

/// Where the memory of a variable lies.
pub(crate) fn space(function: &Function<'_>, variable: &Variable<'_>) -> Option<Space> {
    if variable.is_one_of_several {
        return None;
    }
    if variable.is_shared {
        return Some(Space::Shared);
    }
    if variable.is_parameter && (variable.ty.is_pointer() || variable.is_array()) {
        return Some(if function.is_kernel() {
            Space::Global
        } else {
            Space::Unknown
        });
    }
    if variable.is_array() && !variable.ty.is_reference {
        return Some(Space::Local);
    }
    None
}
