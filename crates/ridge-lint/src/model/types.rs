//! Types as they are written, as far as their size and kind can be told from one file.

use std::collections::HashMap;

use crate::syntax::{Id, Kind, Role, Tree};

/// What is at the bottom of a type, without pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Void,
    Bool,
    Integer {
        bytes: u8,
        is_signed: bool,
    },
    Float {
        bytes: u8,
    },
    /// `float4`, `half2` and their like.
    Vector {
        bytes: u8,
    },
    /// One of [`Types::structures`].
    Structure(usize),
    /// A type parameter, or a type of another file.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) base: Base,
    /// Levels of pointers, and of arrays that a parameter turns into a pointer.
    pub(crate) pointers: u8,
    /// Of a pointer: what it points to cannot be written through it.
    pub(crate) is_const: bool,
    pub(crate) is_restrict: bool,
    pub(crate) is_reference: bool,
}

impl Type {
    pub(crate) const UNKNOWN: Self = Self::of(Base::Unknown);
    pub(crate) const INT: Self = Self::of(Base::Integer {
        bytes: 4,
        is_signed: true,
    });

    pub(crate) const fn of(base: Base) -> Self {
        Self {
            base,
            pointers: 0,
            is_const: false,
            is_restrict: false,
            is_reference: false,
        }
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.pointers > 0
    }

    /// What a pointer points to.
    pub(crate) fn pointee(self) -> Self {
        Self {
            pointers: self.pointers.saturating_sub(1),
            is_reference: false,
            ..self
        }
    }

    pub(crate) fn is_float(self) -> bool {
        self.pointers == 0 && self.base == Base::Float { bytes: 4 }
    }

    pub(crate) fn integer_bytes(self) -> Option<u8> {
        match (self.pointers, self.base) {
            (0, Base::Integer { bytes, .. }) => Some(bytes),
            _ => None,
        }
    }
}

/// A structure that the file defines.
#[derive(Clone, Debug)]
pub(crate) struct Structure<'s> {
    pub(crate) name: &'s str,
    /// Absent where a member's size is not known.
    pub(crate) bytes: Option<u64>,
    pub(crate) members: Vec<(&'s str, Type)>,
}

/// The types that a file names.
#[derive(Debug, Default)]
pub(crate) struct Types<'s> {
    pub(crate) structures: Vec<Structure<'s>>,
    named: HashMap<&'s str, Type>,
}

/// What a declarator declares.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: Id,
    pub(crate) ty: Type,
    /// Sizes of an array, outermost first.
    pub(crate) sizes: Vec<Option<Id>>,
    pub(crate) value: Option<Id>,
    pub(crate) is_function: bool,
}

impl<'s> Types<'s> {
    /// Learns the structures and aliases of a file.
    pub(crate) fn learn(&mut self, tree: &Tree<'s>) {
        for id in tree.below(tree.root()) {
            match tree.kind(id) {
                Kind::TypeDefinition | Kind::AliasDeclaration => self.alias(tree, id),
                Kind::Struct | Kind::Class => self.structure(tree, id),
                _ => {}
            }
        }
    }

    fn alias(&mut self, tree: &Tree<'s>, id: Id) {
        let is_using = tree.is(id, Kind::AliasDeclaration);
        let ty = if is_using {
            let Some(described) = tree.part(id, Role::Type) else {
                return;
            };
            self.described(tree, described)
        } else {
            self.written(tree, id)
        };
        let name = tree.part(
            id,
            if is_using {
                Role::Name
            } else {
                Role::Declarator
            },
        );
        let Some(name) = name.filter(|name| tree.is(*name, Kind::TypeIdentifier)) else {
            return;
        };
        self.named.insert(tree.text(name), ty);
    }

    fn structure(&mut self, tree: &Tree<'s>, id: Id) {
        let Some(body) = tree.part(id, Role::Body) else {
            return;
        };
        // The name of a template stands for many sizes.
        let is_template = tree
            .parent(id)
            .is_some_and(|above| tree.is(above, Kind::Template));
        let name = tree
            .part(id, Role::Name)
            .filter(|name| tree.is(*name, Kind::TypeIdentifier))
            .map(|name| tree.text(name));
        // `typedef struct { … } Name;`
        let alias = tree
            .parent(id)
            .filter(|above| tree.is(*above, Kind::TypeDefinition))
            .and_then(|above| tree.part(above, Role::Declarator))
            .filter(|name| tree.is(*name, Kind::TypeIdentifier))
            .map(|name| tree.text(name));
        let mut members = Vec::new();
        let (mut bytes, mut widest) = (Some(0_u64), 1_u64);
        for member in tree.parts(body) {
            if !tree.is(member, Kind::FieldDeclaration) {
                continue;
            }
            let of_member = self.written(tree, member);
            for part in tree
                .children(member)
                .filter(|part| tree.role(*part) == Role::Declarator)
            {
                let Some(declared) = declared(tree, part, of_member) else {
                    continue;
                };
                if declared.is_function {
                    continue;
                }
                let mut count = Some(1_u64);
                for size in &declared.sizes {
                    let number = size.and_then(|size| tree.text(size).parse::<u64>().ok());
                    count = count.zip(number).and_then(|(a, b)| a.checked_mul(b));
                }
                let size = self.bytes(declared.ty);
                let align = size.map(|size| self.alignment(declared.ty, size));
                widest = widest.max(align.unwrap_or(1));
                bytes = bytes.zip(count).zip(size.zip(align)).and_then(
                    |((so_far, count), (size, align))| {
                        so_far
                            .checked_next_multiple_of(align)?
                            .checked_add(size.checked_mul(count)?)
                    },
                );
                members.push((tree.text(declared.name), declared.ty));
            }
        }
        let bytes = bytes.and_then(|bytes| bytes.checked_next_multiple_of(widest));
        let is_derived = tree.parts(id).count() > 2;
        let Some(shown) = name.or(alias).filter(|_| !is_template) else {
            return;
        };
        for name in name.into_iter().chain(alias) {
            self.named
                .insert(name, Type::of(Base::Structure(self.structures.len())));
        }
        self.structures.push(Structure {
            name: shown,
            bytes: bytes.filter(|bytes| !is_derived && *bytes > 0),
            members,
        });
    }

    fn alignment(&self, ty: Type, size: u64) -> u64 {
        match ty.base {
            // Three-element vectors align as their elements; structures here have members of four or eight bytes.
            Base::Vector { bytes: 12 } => 4,
            Base::Structure(_) if !ty.is_pointer() => 4,
            _ => size.clamp(1, 16),
        }
    }

    /// The size of a value, where it is known.
    pub(crate) fn bytes(&self, ty: Type) -> Option<u64> {
        if ty.is_pointer() {
            return Some(8);
        }
        match ty.base {
            Base::Bool => Some(1),
            Base::Integer { bytes, .. } | Base::Float { bytes } | Base::Vector { bytes } => {
                Some(u64::from(bytes))
            }
            Base::Structure(which) => self.structures.get(which)?.bytes,
            Base::Void | Base::Unknown => None,
        }
    }

    /// The type that a declaration names, before its declarators.
    pub(crate) fn written(&self, tree: &Tree<'s>, declaration: Id) -> Type {
        let mut ty = tree
            .part(declaration, Role::Type)
            .map_or(Type::UNKNOWN, |ty| self.named(tree, ty));
        ty.is_const |= tree.children(declaration).any(|part| {
            tree.is(part, Kind::TypeQualifier) && matches!(tree.text(part), "const" | "constexpr")
        });
        ty
    }

    /// A type as it stands in a cast.
    pub(crate) fn described(&self, tree: &Tree<'s>, descriptor: Id) -> Type {
        if !tree.is(descriptor, Kind::TypeDescriptor) {
            return self.named(tree, descriptor);
        }
        let mut ty = self.written(tree, descriptor);
        let pointers = tree
            .below(descriptor)
            .filter(|id| tree.is(*id, Kind::AbstractPointer))
            .count();
        ty.pointers = ty
            .pointers
            .saturating_add(u8::try_from(pointers).unwrap_or(u8::MAX));
        ty
    }

    fn named(&self, tree: &Tree<'s>, id: Id) -> Type {
        match tree.kind(id) {
            Kind::PrimitiveType | Kind::SizedType | Kind::TypeIdentifier | Kind::Identifier => {
                self.by_name(tree.text(id))
            }
            // `std::uint32_t` and its like.
            Kind::Qualified => tree.part(id, Role::Name).map_or(Type::UNKNOWN, |name| {
                builtin(tree.text(name)).map_or(Type::UNKNOWN, Type::of)
            }),
            Kind::Struct => tree
                .part(id, Role::Name)
                .map_or(Type::UNKNOWN, |name| self.by_name(tree.text(name))),
            _ => Type::UNKNOWN,
        }
    }

    pub(crate) fn by_name(&self, name: &str) -> Type {
        self.named
            .get(name)
            .copied()
            .or_else(|| builtin(name).map(Type::of))
            .unwrap_or(Type::UNKNOWN)
    }
}

/// Follows a declarator down to its name.
pub(crate) fn declared(tree: &Tree<'_>, declarator: Id, mut ty: Type) -> Option<Declared> {
    let (mut at, mut sizes, mut value, mut is_function) = (declarator, Vec::new(), None, false);
    // No declarator that anybody reads is deeper.
    for _ in 0..32 {
        let inner = match tree.kind(at) {
            Kind::Identifier
            | Kind::FieldIdentifier
            | Kind::TypeIdentifier
            | Kind::Qualified
            | Kind::TemplateFunction => {
                sizes.reverse();
                return Some(Declared {
                    name: at,
                    ty,
                    sizes,
                    value,
                    is_function,
                });
            }
            Kind::PointerDeclarator => {
                ty.pointers = ty.pointers.saturating_add(1);
                ty.is_restrict |= tree.children(at).any(|part| {
                    let text = tree.text(part);
                    matches!(text, "__restrict__" | "__restrict" | "restrict")
                });
                tree.part(at, Role::Declarator)
            }
            Kind::ReferenceDeclarator => {
                ty.is_reference = true;
                tree.parts(at).last()
            }
            Kind::ArrayDeclarator => {
                sizes.push(tree.part(at, Role::Size));
                tree.part(at, Role::Declarator)
            }
            Kind::InitDeclarator => {
                value = tree.part(at, Role::Value);
                tree.part(at, Role::Declarator)
            }
            Kind::FunctionDeclarator => {
                is_function = true;
                tree.part(at, Role::Declarator)
            }
            Kind::ParenthesizedDeclarator => tree.parts(at).last(),
            _ => None,
        };
        at = inner?;
    }
    None
}

fn builtin(name: &str) -> Option<Base> {
    let integer = |bytes, is_signed| Some(Base::Integer { bytes, is_signed });
    match name {
        "void" => return Some(Base::Void),
        "bool" => return Some(Base::Bool),
        "float" => return Some(Base::Float { bytes: 4 }),
        "double" => return Some(Base::Float { bytes: 8 }),
        "half" | "__half" | "__nv_bfloat16" | "nv_bfloat16" => {
            return Some(Base::Float { bytes: 2 });
        }
        "half2" | "__half2" | "__nv_bfloat162" | "nv_bfloat162" => {
            return Some(Base::Vector { bytes: 4 });
        }
        "char" | "int8_t" => return integer(1, true),
        "uint8_t" | "uchar" => return integer(1, false),
        "short" | "int16_t" => return integer(2, true),
        "uint16_t" | "ushort" => return integer(2, false),
        "int" | "int32_t" | "signed" => return integer(4, true),
        "unsigned" | "uint" | "uint32_t" => return integer(4, false),
        "long" | "int64_t" | "ptrdiff_t" | "intptr_t" | "ssize_t" => return integer(8, true),
        "size_t" | "uint64_t" | "uintptr_t" | "ulong" => return integer(8, false),
        _ => {}
    }
    if name.contains(' ') {
        let is_signed = !name.contains("unsigned");
        let has = |word: &str| name.split_whitespace().any(|part| part == word);
        return if has("double") || has("float") {
            None
        } else if has("char") {
            integer(1, is_signed)
        } else if has("short") {
            integer(2, is_signed)
        } else if has("long") {
            integer(8, is_signed)
        } else if has("int") || has("unsigned") || has("signed") {
            integer(4, is_signed)
        } else {
            None
        };
    }
    let count = name
        .bytes()
        .last()
        .filter(|count| (b'1'..=b'4').contains(count))?
        - b'0';
    let bytes = match name.get(..name.len().checked_sub(1)?)? {
        "char" | "uchar" => 1,
        "short" | "ushort" => 2,
        "int" | "uint" | "float" => 4,
        "long" | "ulong" | "longlong" | "ulonglong" | "double" => 8,
        _ => return None,
    };
    Some(Base::Vector {
        bytes: bytes * count,
    })
}
