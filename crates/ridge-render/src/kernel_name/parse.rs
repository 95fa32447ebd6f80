//! The structure of a demangled name: words, scopes and nested brackets.
//!
//! This is no C++ grammar. It knows just enough to find the function's name and to match brackets, accepts any text,
//! and treats what does not match as part of a word.

use std::ops::Range;

/// Deeper groups keep no structure; real names stay below 20.
const DEEPEST: usize = 64;

/// A pair of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Angle,
    Round,
    Square,
    Curly,
}

impl Bracket {
    const fn opened_by(character: char) -> Option<Self> {
        Some(match character {
            '<' => Self::Angle,
            '(' => Self::Round,
            '[' => Self::Square,
            '{' => Self::Curly,
            _ => return None,
        })
    }

    const fn closed_by(character: char) -> Option<Self> {
        Some(match character {
            '>' => Self::Angle,
            ')' => Self::Round,
            ']' => Self::Square,
            '}' => Self::Curly,
            _ => return None,
        })
    }

    /// The opening and the closing character.
    pub(super) const fn characters(self) -> (char, char) {
        match self {
            Self::Angle => ('<', '>'),
            Self::Round => ('(', ')'),
            Self::Square => ('[', ']'),
            Self::Curly => ('{', '}'),
        }
    }
}

/// Brackets and what is between them.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) bracket: Bracket,
    /// The parts between commas; none where the content was too deep to keep.
    pub(super) items: Vec<Item>,
    /// Where the group stands, brackets included.
    pub(super) span: Range<usize>,
    /// Whether the closing bracket is there.
    pub(super) is_closed: bool,
}

/// One piece of a name.
#[derive(Debug)]
pub(super) enum Piece {
    /// Text without structure: an identifier, a number, an operator's name.
    Word(Range<usize>),
    /// `::`
    Scope,
    /// White space between two other pieces.
    Space,
    /// A bracketed part.
    Group(Group),
}

/// The pieces between two commas.
pub(super) type Item = Vec<Piece>;

/// A parsed name.
#[derive(Debug)]
pub(super) struct Name<'n> {
    text: &'n str,
    /// The qualified name with its template arguments; empty where the text is no function's name.
    path: Item,
    depth: usize,
}

impl<'n> Name<'n> {
    /// Reads any text.
    pub(super) fn parse(text: &'n str) -> Self {
        let mut parser = Parser {
            text,
            at: 0,
            open: Vec::new(),
            deepest: 0,
        };
        let mut pieces = parser.items().into_iter().next().unwrap_or_default();
        let is_function = cut_to_path(&mut pieces, text);
        if !is_function {
            pieces.clear();
        }
        Self {
            text,
            path: pieces,
            depth: parser.deepest,
        }
    }

    /// Whether there is a qualified name to work with; otherwise only the text as a whole means something.
    pub(super) fn is_function(&self) -> bool {
        !self.path.is_empty()
    }

    /// The text that was parsed.
    pub(super) fn whole(&self) -> &'n str {
        self.text
    }

    /// The text at a place.
    pub(super) fn at(&self, span: &Range<usize>) -> &'n str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The qualified name's pieces.
    pub(super) fn path(&self) -> &[Piece] {
        &self.path
    }

    /// How deep brackets are nested.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The last component's name, or the whole text.
    pub(super) fn base(&self) -> &'n str {
        let last = self
            .path
            .rsplit(|piece| matches!(piece, Piece::Scope))
            .find(|component| !component.is_empty());
        match last.and_then(<[Piece]>::first) {
            Some(Piece::Word(span)) => self.at(span),
            Some(Piece::Group(group)) => self.at(&group.span),
            _ => self.text,
        }
    }
}

/// Cuts away return type, parameter list and what follows; whether a qualified name is left.
fn cut_to_path(pieces: &mut Item, text: &str) -> bool {
    let parameters = (1..pieces.len())
        .rev()
        .find(|&index| is_parameter_list(pieces, index));
    if let Some(index) = parameters {
        pieces.truncate(index);
    }
    let is_void = |piece: &Piece| matches!(piece, Piece::Word(span) if text.get(span.clone()) == Some("void"));
    let last_space = pieces.iter().rposition(|p| matches!(p, Piece::Space));
    if let Some(index) = last_space {
        // Without parameters a space says that the text is prose, such as `Memcpy HtoD (Pageable -> Device)`.
        if parameters.is_none() && !(index == 1 && pieces.first().is_some_and(is_void)) {
            return false;
        }
        pieces.drain(..=index);
    }
    // `float *name(int)`: the star belongs to the type.
    if let Some(Piece::Word(span)) = pieces.first_mut() {
        let word = text.get(span.clone()).unwrap_or_default();
        span.start += word.len() - word.trim_start_matches(['*', '&']).len();
        if span.start >= span.end {
            pieces.remove(0);
        }
    }
    pieces.iter().any(|piece| matches!(piece, Piece::Word(_)))
        || matches!(pieces.last(), Some(Piece::Group(_)))
}

/// Whether the piece at `index` is a parameter list: round brackets right behind a name, that no scope follows.
fn is_parameter_list(pieces: &[Piece], index: usize) -> bool {
    let is_round =
        matches!(pieces.get(index), Some(Piece::Group(group)) if group.bracket == Bracket::Round);
    let follows_name = match index.checked_sub(1).and_then(|before| pieces.get(before)) {
        Some(Piece::Word(_)) => true,
        Some(Piece::Group(group)) => group.bracket != Bracket::Round,
        _ => false,
    };
    is_round && follows_name && !matches!(pieces.get(index + 1), Some(Piece::Scope))
}

struct Parser<'n> {
    text: &'n str,
    at: usize,
    open: Vec<Bracket>,
    deepest: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn before(&self) -> Option<char> {
        self.text.get(..self.at)?.chars().next_back()
    }

    /// Reads up to the end, or up to a bracket that closes an open group; the bracket stays.
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut item = Item::new();
        while let Some(character) = self.rest().chars().next() {
            if character == ' ' {
                self.space(&mut item);
            } else if self.rest().starts_with("::") {
                self.at += 2;
                item.push(Piece::Scope);
            } else if character == ',' && !self.open.is_empty() {
                self.at += 1;
                items.push(trimmed(std::mem::take(&mut item)));
            } else if let Some(bracket) = Bracket::opened_by(character)
                && (bracket != Bracket::Angle || self.is_template(&item))
            {
                let group = self.group(bracket);
                item.push(Piece::Group(group));
            } else if self.closes_open_group(character) {
                break;
            } else {
                self.word(&mut item);
            }
        }
        items.push(trimmed(item));
        items
    }

    /// Whether `<` at this place opens template arguments; in `(4)<(5)` and after spaces it compares.
    fn is_template(&self, item: &Item) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        match self.before() {
            None | Some(':') => true,
            Some(character) if is_name(character) => true,
            Some(_) => match item.last() {
                Some(Piece::Word(span)) => self
                    .text
                    .get(span.clone())
                    .is_some_and(|word| word.starts_with("operator")),
                None => self.rest().starts_with("<unnamed>"),
                Some(Piece::Space) => self.rest().starts_with("<unnamed>"),
                Some(_) => false,
            },
        }
    }

    /// Whether a closing bracket ends the innermost group, or one around it that the innermost has no say in.
    fn closes_open_group(&self, character: char) -> bool {
        match Bracket::closed_by(character) {
            Some(Bracket::Angle) => {
                // `->` is an arrow, and within round brackets `>` compares.
                self.open.last() == Some(&Bracket::Angle) && self.before() != Some('-')
            }
            Some(bracket) => self.open.contains(&bracket),
            None => false,
        }
    }

    fn group(&mut self, bracket: Bracket) -> Group {
        let start = self.at;
        let (_, close) = bracket.characters();
        self.at += 1;
        self.deepest = self.deepest.max(self.open.len() + 1);
        let items = if self.open.len() < DEEPEST {
            self.open.push(bracket);
            let items = self.items();
            self.open.pop();
            items
        } else {
            self.skip(bracket);
            Vec::new()
        };
        let is_closed = self.rest().starts_with(close);
        self.at += usize::from(is_closed);
        Group {
            bracket,
            items,
            span: start..self.at,
            is_closed,
        }
    }

    /// Goes to the bracket that closes a group, looking at no others.
    fn skip(&mut self, bracket: Bracket) {
        let (open, close) = bracket.characters();
        let mut depth = 0_usize;
        let end = self.rest().char_indices().find(|&(_, character)| {
            if character == open {
                depth += 1;
            } else if character == close {
                if depth == 0 {
                    return true;
                }
                depth -= 1;
            }
            false
        });
        self.at = end.map_or(self.text.len(), |(offset, _)| self.at + offset);
    }

    fn space(&mut self, item: &mut Item) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(' ').len();
        // `f() const::{lambda()#1}`: the qualifier of a function around this one says nothing.
        for qualifier in ["const", "volatile"] {
            let follows = |rest: &str| {
                rest.strip_prefix(qualifier)
                    .is_some_and(|r| r.starts_with("::"))
            };
            if follows(self.rest()) {
                self.at += qualifier.len();
                return;
            }
        }
        if !item.is_empty() {
            item.push(Piece::Space);
        }
    }

    fn word(&mut self, item: &mut Item) {
        let start = self.at;
        match operator_name(self.rest()) {
            Some(length) if !self.before().is_some_and(char::is_alphanumeric) => {
                self.at += length;
                // `operator< <int>`: the space only keeps the brackets apart.
                if self.rest().starts_with(" <") {
                    item.push(Piece::Word(start..self.at));
                    self.at += 1;
                    return;
                }
            }
            _ => {
                let rest = self.rest();
                let first = rest.chars().next().map_or(0, char::len_utf8);
                let tail = rest.get(first..).unwrap_or_default();
                let end = tail
                    .find(|c: char| matches!(c, ' ' | ',' | ':') || is_bracket(c))
                    .unwrap_or(tail.len());
                self.at += first + end;
            }
        }
        match item.last_mut() {
            Some(Piece::Word(span)) if span.end == start => span.end = self.at,
            _ => item.push(Piece::Word(start..self.at)),
        }
    }
}

fn is_bracket(character: char) -> bool {
    Bracket::opened_by(character).is_some() || Bracket::closed_by(character).is_some()
}

fn trimmed(mut item: Item) -> Item {
    while matches!(item.last(), Some(Piece::Space)) {
        item.pop();
    }
    item
}

/// The length of an operator function's name at the start of `text`: `operator<<`, `operator ()`, `operator bool`.
fn operator_name(text: &str) -> Option<usize> {
    const SYMBOLS: [&str; 44] = [
        "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&",
        "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "+", "-", "*",
        "/", "%", "^", "&", "|", "~", "!", "=", ",", "\"\"", "new[]", "new", "delete[]", "delete",
    ];
    let rest = text.strip_prefix("operator")?;
    let symbol = rest.trim_start_matches(' ');
    let spaces = rest.len() - symbol.len();
    let keyword = text.len() - rest.len();
    let found = SYMBOLS.iter().find(|s| symbol.starts_with(**s));
    if let Some(found) = found
        && (spaces > 0 || !found.starts_with(char::is_alphabetic))
    {
        return Some(keyword + spaces + found.len());
    }
    // A conversion: the type up to its template arguments or the parameter list.
    (spaces > 0 && symbol.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .then(|| keyword + spaces + symbol.find(is_bracket).unwrap_or(symbol.len()))
}
