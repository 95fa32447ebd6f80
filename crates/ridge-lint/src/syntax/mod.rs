//! The source as a tree in one flat list, in the order of the text. Whatever is below a node is a range of the list, so that no walk
//! needs recursion, however deep the source is nested.

mod kind;

use std::ops::{ControlFlow, Range};

pub(crate) use kind::{Kind, Role};
use tree_sitter::{ParseOptions, ParseState, Parser};

use crate::error::Error;

/// Larger sources are refused: the tree of one takes about a hundred times its size.
pub(crate) const MOST_BYTES: usize = 8 << 20;
/// Steps of the parser for each byte of source, in hundreds. Source needs about one; what needs hundreds is not source.
const MOST_PROGRESS: usize = 64;
/// Walks towards the root end here. Code that people write is nested less deep by far.
const MOST_LEVELS: usize = 256;

/// A node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(u32);

impl Id {
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    role: Role,
    is_named: bool,
    start: u32,
    end: u32,
    parent: u32,
    /// The first node that is no longer below this one.
    after: u32,
}

/// The tree of a source.
#[derive(Debug)]
pub(crate) struct Tree<'s> {
    bytes: &'s [u8],
    nodes: Vec<Node>,
}

impl<'s> Tree<'s> {
    pub(crate) fn parse(bytes: &'s [u8]) -> Result<Self, Error> {
        if bytes.len() > MOST_BYTES {
            return Err(Error::TooLarge {
                bytes: bytes.len(),
                limit: MOST_BYTES,
            });
        }
        if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
            return Err(Error::Binary { offset });
        }
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_cuda::LANGUAGE.into())
            .map_err(|_| Error::Grammar)?;
        let mut left = 1000 + bytes.len().saturating_mul(MOST_PROGRESS) / 100;
        let mut progress = |_: &ParseState| {
            left = left.saturating_sub(1);
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let parsed = parser
            .parse_with_options(&mut read, None, Some(options))
            .ok_or(Error::NotSource)?;
        Ok(Self {
            bytes,
            nodes: flatten(&parsed),
        })
    }

    fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    /// Everything.
    #[expect(clippy::unused_self, reason = "an identifier belongs to a tree")]
    pub(crate) fn root(&self) -> Id {
        Id(0)
    }

    pub(crate) fn kind(&self, id: Id) -> Kind {
        self.node(id).kind
    }

    pub(crate) fn is(&self, id: Id, kind: Kind) -> bool {
        self.kind(id) == kind
    }

    pub(crate) fn role(&self, id: Id) -> Role {
        self.node(id).role
    }

    pub(crate) fn range(&self, id: Id) -> Range<usize> {
        let node = self.node(id);
        node.start as usize..node.end as usize
    }

    pub(crate) fn start(&self, id: Id) -> usize {
        self.node(id).start as usize
    }

    pub(crate) fn end(&self, id: Id) -> usize {
        self.node(id).end as usize
    }

    /// The text of a node; empty where it is not UTF-8.
    pub(crate) fn text(&self, id: Id) -> &'s str {
        let bytes = self.bytes.get(self.range(id)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Some of the text from an offset on.
    pub(crate) fn text_from(&self, offset: usize) -> &'s str {
        let end = offset.saturating_add(128).min(self.bytes.len());
        let bytes = self.bytes.get(offset..end).unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        }
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        (id.0 != 0).then(|| Id(self.node(id).parent))
    }

    /// The nodes above, nearest first, up to a depth that is enough for code of people.
    pub(crate) fn above(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(self.parent(id), |id| self.parent(*id)).take(MOST_LEVELS)
    }

    /// Each node above with the child through which it is reached.
    pub(crate) fn path_up(&self, id: Id) -> impl Iterator<Item = (Id, Id)> + '_ {
        std::iter::successors(self.parent(id).map(|above| (above, id)), |(above, _)| {
            Some((self.parent(*above)?, *above))
        })
        .take(MOST_LEVELS)
    }

    /// All nodes below, in the order of the text.
    pub(crate) fn below(&self, id: Id) -> impl Iterator<Item = Id> + use<> {
        (id.0 + 1..self.node(id).after).map(Id)
    }

    /// The nodes behind the start of a node, up to where another one ends.
    pub(crate) fn from(&self, id: Id, whole: Id) -> impl Iterator<Item = Id> + use<> {
        (id.0 + 1..self.node(whole).after).map(Id)
    }

    /// Whether a node is another one or below it.
    pub(crate) fn is_within(&self, id: Id, outer: Id) -> bool {
        outer.0 <= id.0 && id.0 < self.node(outer).after
    }

    /// The next node that is not below this one.
    pub(crate) fn after(&self, id: Id) -> Id {
        Id(self.node(id).after)
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.node(id).after;
        let mut next = id.0 + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(Id(next))?;
            next = self.node(child).after;
            Some(child)
        })
    }

    /// Children that are no punctuation and no comments.
    pub(crate) fn parts(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.children(id)
            .filter(|child| self.node(*child).is_named && !self.is(*child, Kind::Comment))
    }

    pub(crate) fn part(&self, id: Id, role: Role) -> Option<Id> {
        self.children(id).find(|child| self.role(*child) == role)
    }

    /// The token of an operator.
    pub(crate) fn operator(&self, id: Id) -> &'s str {
        self.part(id, Role::Operator)
            .map_or("", |operator| self.text(operator))
    }

    /// An expression without the parentheses around it.
    pub(crate) fn bare(&self, mut id: Id) -> Id {
        for _ in 0..MOST_LEVELS {
            if !self.is(id, Kind::Parenthesized) && !self.is(id, Kind::Condition) {
                break;
            }
            match self.parts(id).last() {
                Some(inner) => id = inner,
                None => break,
            }
        }
        id
    }

    /// Whether a node stands in a part that the preprocessor may leave out, with the text of its condition.
    pub(crate) fn preprocessor_conditions(&self, id: Id) -> impl Iterator<Item = &'s str> + '_ {
        self.above(id).filter_map(|above| match self.kind(above) {
            Kind::PreprocIf | Kind::PreprocElif => {
                let condition = self.part(above, Role::Condition)?;
                Some(self.text(condition))
            }
            Kind::PreprocIfdef => {
                let name = self.part(above, Role::Name)?;
                Some(self.text(name))
            }
            _ => None,
        })
    }
}

fn flatten(parsed: &tree_sitter::Tree) -> Vec<Node> {
    let language = parsed.language();
    let kinds: Vec<Kind> = (0..language.node_kind_count())
        .map(|id| {
            let id = u16::try_from(id).unwrap_or_default();
            Kind::of(language.node_kind_for_id(id).unwrap_or_default())
        })
        .collect();
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    let mut cursor = parsed.walk();
    let count = |nodes: &[Node]| u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    loop {
        let node = cursor.node();
        let at = count(&nodes);
        let kind = if node.is_error() {
            Kind::Error
        } else {
            let id = usize::from(node.kind_id());
            kinds.get(id).copied().unwrap_or(Kind::Other)
        };
        nodes.push(Node {
            kind,
            role: cursor.field_name().map_or(Role::Other, Role::of),
            is_named: node.is_named(),
            start: u32::try_from(node.start_byte()).unwrap_or(u32::MAX),
            end: u32::try_from(node.end_byte()).unwrap_or(u32::MAX),
            parent: open.last().copied().unwrap_or_default(),
            after: at + 1,
        });
        if cursor.goto_first_child() {
            open.push(at);
            continue;
        }
        while !cursor.goto_next_sibling() {
            let Some(done) = open.pop() else {
                return nodes;
            };
            let end = count(&nodes);
            nodes[done as usize].after = end;
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_is_a_range() {
        let tree = Tree::parse(b"int f() { return 1 + 2; } int g;").unwrap();
        let function = tree.children(tree.root()).next().unwrap();
        assert!(tree.is(function, Kind::FunctionDefinition));
        let numbers: Vec<&str> = tree
            .below(function)
            .filter(|id| tree.is(*id, Kind::Number))
            .map(|id| tree.text(id))
            .collect();
        assert_eq!(numbers, ["1", "2"]);
        let number = tree
            .below(function)
            .find(|id| tree.is(*id, Kind::Number))
            .unwrap();
        assert!(tree.above(number).any(|above| above == function));
        assert!(tree.is_within(number, function));
        assert_eq!(tree.text(tree.after(function)), "int g;");
    }

    #[test]
    fn what_is_no_source_is_refused() {
        assert!(matches!(
            Tree::parse(b"\x7fELF\0"),
            Err(Error::Binary { offset: 4 })
        ));
        let large = vec![b' '; MOST_BYTES + 1];
        assert!(matches!(Tree::parse(&large), Err(Error::TooLarge { .. })));
    }
}
