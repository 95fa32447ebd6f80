//! A parsed name as text, with more or less of it left out.

use super::parse::{Bracket, Group, Item, Name, Piece};
use crate::charset::Charset;
use crate::width::width;

/// How much of a name is written.
#[derive(Clone, Copy)]
pub(super) struct Printer<'p> {
    name: &'p Name<'p>,
    charset: Charset,
    has_outer_namespaces: bool,
    has_inner_namespaces: bool,
    has_lambdas: bool,
    /// Groups nested deeper are written as an ellipsis.
    depth: usize,
}

impl<'p> Printer<'p> {
    /// Writes all that is kept at any width.
    pub(super) const fn new(name: &'p Name<'p>, charset: Charset) -> Self {
        Self {
            name,
            charset,
            has_outer_namespaces: true,
            has_inner_namespaces: true,
            has_lambdas: true,
            depth: usize::MAX,
        }
    }

    /// Leaves out namespaces within brackets, and the way from a function to a lambda in it.
    pub(super) const fn without_inner_namespaces(mut self) -> Self {
        self.has_inner_namespaces = false;
        self
    }

    /// Leaves out the namespaces of the function itself.
    pub(super) const fn without_outer_namespaces(mut self) -> Self {
        self.has_outer_namespaces = false;
        self
    }

    /// Writes a lambda in a function, within brackets, as the function and an ellipsis.
    pub(super) const fn without_lambdas(mut self) -> Self {
        self.has_lambdas = false;
        self
    }

    /// Writes groups nested deeper than `depth` as an ellipsis.
    pub(super) const fn to_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// The qualified name.
    pub(super) fn path(self) -> String {
        let mut out = String::new();
        self.push_run(&mut out, self.name.path(), 0);
        out
    }

    /// The function's own name with as many of its first template arguments as fit, or without any; nothing where the
    /// name has no arguments or does not fit itself.
    pub(super) fn leading_arguments(self, columns: usize) -> Option<String> {
        let last = self
            .name
            .path()
            .rsplit(|piece| matches!(piece, Piece::Scope))
            .next()?;
        let arguments = last.iter().find_map(|piece| match piece {
            Piece::Group(group) if group.bracket == Bracket::Angle => Some(group),
            _ => None,
        })?;
        let ellipsis = self.charset.ellipsis();
        let base = self.name.base();
        let mut room = columns.checked_sub(width(base) + width(ellipsis) + "<>".len())?;
        let mut out = format!("{base}<");
        for argument in arguments
            .items
            .iter()
            .take(arguments.items.len().saturating_sub(1))
        {
            let mut text = String::new();
            self.push_item(&mut text, argument, 1);
            // The comma before the ellipsis has no space, which leaves one more column for what matters.
            text.push(',');
            let Some(left) = room.checked_sub(width(&text)) else {
                break;
            };
            if out.ends_with(',') {
                let Some(left) = left.checked_sub(1) else {
                    break;
                };
                out.push(' ');
                room = left;
            } else {
                room = left;
            }
            out.push_str(&text);
        }
        out.push_str(ellipsis);
        out.push('>');
        Some(out)
    }

    /// Writes pieces between commas; `depth` is that of the group around them.
    fn push_item(self, out: &mut String, item: &Item, depth: usize) {
        let item = self.without_return_type(without_cast(item, self.name));
        let mut is_first = true;
        for run in item.split(|piece| matches!(piece, Piece::Space)) {
            let mut text = String::new();
            self.push_run(&mut text, run, depth);
            // `char *` and `char*` come from two demanglers; the shorter one reads as well.
            if !is_first && !text.starts_with(['*', '&']) {
                out.push(' ');
            }
            out.push_str(&text);
            is_first = false;
        }
    }

    /// The item without the return type that one of the demanglers writes before functions in template arguments.
    fn without_return_type(self, item: &[Piece]) -> &[Piece] {
        match item {
            [Piece::Word(word), Piece::Space, rest @ ..] if self.name.at(word) == "void" => rest,
            _ => item,
        }
    }

    /// Writes a qualified name.
    fn push_run(self, out: &mut String, run: &[Piece], depth: usize) {
        let components: Vec<&[Piece]> = run
            .split(|piece| matches!(piece, Piece::Scope))
            .filter(|component| !self.is_noise(component))
            .collect();
        let is_inner = depth > 0;
        let keeps_namespaces = if is_inner {
            self.has_inner_namespaces
        } else {
            self.has_outer_namespaces
        };
        let mut components = components.as_slice();
        if !keeps_namespaces {
            while let [[Piece::Word(_)], rest @ ..] = components
                && !rest.is_empty()
            {
                components = rest;
            }
        }
        let is_local = components
            .first()
            .is_some_and(|first| has_parameters(first));
        let is_cut = is_local && is_inner && !self.has_lambdas && components.len() > 1;
        let last = components.len().saturating_sub(1);
        let mut is_left_out = false;
        for (index, component) in components.iter().enumerate() {
            // Within a function: what matters is which function, and what in it is meant.
            let is_between = !keeps_namespaces && index > 0 && index < last;
            if is_between
                && components
                    .first()
                    .is_some_and(|first| has_parameters(first))
            {
                is_left_out = true;
                continue;
            }
            if index > 0 {
                out.push_str("::");
            }
            if is_left_out && !is_cut {
                out.push_str(self.charset.ellipsis());
                out.push_str("::");
            }
            if is_cut && index == last {
                out.push_str(self.charset.ellipsis());
                break;
            }
            let is_around = !keeps_namespaces && index < last;
            for piece in *component {
                match piece {
                    Piece::Group(group) if is_around && group.bracket == Bracket::Round => {}
                    Piece::Group(group) => self.push_group(out, group, depth + 1),
                    Piece::Word(word) => out.push_str(without_suffix(self.name.at(word))),
                    Piece::Space => out.push(' '),
                    Piece::Scope => out.push_str("::"),
                }
            }
        }
    }

    fn push_group(self, out: &mut String, group: &Group, depth: usize) {
        if let Some(lambda) = self.lambda(group) {
            out.push_str("{lambda");
            if depth < self.depth {
                self.push_group(out, lambda.parameters, depth + 1);
            }
            out.push('#');
            out.push_str(&lambda.number);
            out.push('}');
            return;
        }
        let (open, close) = group.bracket.characters();
        out.push(open);
        if depth <= self.depth && !group.items.is_empty() || self.is_short(group) {
            for (index, item) in group.items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                self.push_item(out, item, depth);
            }
            if !group.is_closed {
                out.push_str(self.charset.ellipsis());
            }
        } else {
            out.push_str(self.charset.ellipsis());
        }
        out.push(close);
    }

    /// Whether an ellipsis would not be shorter than the content.
    fn is_short(self, group: &Group) -> bool {
        match group.items.as_slice() {
            [item] => match item.as_slice() {
                [] => group.is_closed,
                [Piece::Word(word)] => width(self.name.at(word)) <= width(self.charset.ellipsis()),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a component only says that a name is local to its file.
    fn is_noise(self, component: &[Piece]) -> bool {
        match component {
            [] => true,
            [Piece::Group(group)] => matches!(
                self.name.at(&group.span),
                "(anonymous namespace)" | "<unnamed>" | "{anonymous}"
            ),
            [Piece::Word(word)] => {
                let word = self.name.at(word);
                word.starts_with("_GLOBAL__N_") || word.starts_with("_INTERNAL_")
            }
            _ => false,
        }
    }

    /// The lambda that a group stands for: `{lambda(int)#1}` or `[lambda(int) (instance 1)]`.
    fn lambda<'g>(self, group: &'g Group) -> Option<Lambda<'g>> {
        let mut pieces = match group.items.as_slice() {
            [item] => item.iter(),
            _ => return None,
        };
        match pieces.next()? {
            Piece::Word(word) if self.name.at(word) == "lambda" => {}
            _ => return None,
        }
        let Piece::Group(parameters) = pieces.next()? else {
            return None;
        };
        let number: String = match pieces.next()? {
            Piece::Word(word) => self.name.at(word).strip_prefix('#')?.to_owned(),
            Piece::Space => match pieces.next()? {
                Piece::Group(group) => self
                    .name
                    .at(&group.span)
                    .chars()
                    .filter(char::is_ascii_digit)
                    .collect(),
                _ => return None,
            },
            _ => return None,
        };
        Some(Lambda { parameters, number })
    }
}

struct Lambda<'g> {
    parameters: &'g Group,
    number: String,
}

fn has_parameters(component: &[Piece]) -> bool {
    component
        .iter()
        .any(|piece| matches!(piece, Piece::Group(group) if group.bracket == Bracket::Round))
}

/// A number without the type that one of the demanglers casts it to: `(int)4`.
fn without_cast<'i>(item: &'i [Piece], name: &Name<'_>) -> &'i [Piece] {
    match item {
        [Piece::Group(cast), rest @ ..] if cast.bracket == Bracket::Round => match rest.first() {
            Some(Piece::Word(word))
                if name
                    .at(word)
                    .starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
            {
                rest
            }
            _ => item,
        },
        _ => item,
    }
}

/// A number without the suffix that the other demangler writes: `2ul`.
fn without_suffix(word: &str) -> &str {
    let number = word.trim_end_matches(['u', 'l', 'U', 'L']);
    let digits = number.strip_prefix('-').unwrap_or(number);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        number
    } else {
        word
    }
}
