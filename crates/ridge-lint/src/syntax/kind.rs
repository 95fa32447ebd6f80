//! Kinds of nodes and the fields in which they stand, as far as anything here asks for them.

macro_rules! names {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($variant,)+
            Other,
        }

        impl $name {
            /// By the grammar's name.
            pub(super) fn of(name: &str) -> Self {
                match name {
                    $($text => Self::$variant,)+
                    _ => Self::Other,
                }
            }
        }
    };
}

names!(
    /// What a node is.
    Kind {
        AbstractPointer = "abstract_pointer_declarator",
        AliasDeclaration = "alias_declaration",
        Arguments = "argument_list",
        ArrayDeclarator = "array_declarator",
        AsmOutput = "gnu_asm_output_operand",
        Assignment = "assignment_expression",
        Auto = "placeholder_type_specifier",
        Binary = "binary_expression",
        Break = "break_statement",
        Call = "call_expression",
        Case = "case_statement",
        Cast = "cast_expression",
        Char = "char_literal",
        Class = "class_specifier",
        Comma = "comma_expression",
        Comment = "comment",
        CompoundLiteral = "compound_literal_expression",
        Compound = "compound_statement",
        Condition = "condition_clause",
        Conditional = "conditional_expression",
        Declaration = "declaration",
        DoStatement = "do_statement",
        ElseClause = "else_clause",
        Enumerator = "enumerator",
        Error = "ERROR",
        ExpressionStatement = "expression_statement",
        False = "false",
        FieldDeclaration = "field_declaration",
        FieldDeclarations = "field_declaration_list",
        Field = "field_expression",
        FieldIdentifier = "field_identifier",
        ForRange = "for_range_loop",
        For = "for_statement",
        FunctionDeclarator = "function_declarator",
        FunctionDefinition = "function_definition",
        Identifier = "identifier",
        If = "if_statement",
        InitDeclarator = "init_declarator",
        InitializerList = "initializer_list",
        KernelCall = "kernel_call_syntax",
        Lambda = "lambda_expression",
        LaunchBounds = "launch_bounds",
        Number = "number_literal",
        OptionalParameter = "optional_parameter_declaration",
        OptionalTypeParameter = "optional_type_parameter_declaration",
        Parameter = "parameter_declaration",
        Parameters = "parameter_list",
        Parenthesized = "parenthesized_expression",
        ParenthesizedDeclarator = "parenthesized_declarator",
        Pointer = "pointer_expression",
        PointerDeclarator = "pointer_declarator",
        PreprocArgument = "preproc_arg",
        PreprocCall = "preproc_call",
        PreprocDefine = "preproc_def",
        PreprocElif = "preproc_elif",
        PreprocElse = "preproc_else",
        PreprocFunction = "preproc_function_def",
        PreprocIf = "preproc_if",
        PreprocIfdef = "preproc_ifdef",
        PrimitiveType = "primitive_type",
        Qualified = "qualified_identifier",
        ReferenceDeclarator = "reference_declarator",
        Return = "return_statement",
        Sizeof = "sizeof_expression",
        SizedType = "sized_type_specifier",
        StorageClass = "storage_class_specifier",
        String = "string_literal",
        Struct = "struct_specifier",
        Subscript = "subscript_expression",
        SubscriptArguments = "subscript_argument_list",
        Switch = "switch_statement",
        TemplateArguments = "template_argument_list",
        Template = "template_declaration",
        TemplateFunction = "template_function",
        TemplateParameters = "template_parameter_list",
        TemplateType = "template_type",
        True = "true",
        TypeDefinition = "type_definition",
        TypeDescriptor = "type_descriptor",
        TypeIdentifier = "type_identifier",
        TypeParameter = "type_parameter_declaration",
        TypeQualifier = "type_qualifier",
        Unary = "unary_expression",
        Union = "union_specifier",
        Update = "update_expression",
        While = "while_statement",
    }
);

names!(
    /// The role of a node in its parent.
    Role {
        Alternative = "alternative",
        Argument = "argument",
        Arguments = "arguments",
        Body = "body",
        Condition = "condition",
        Consequence = "consequence",
        Declarator = "declarator",
        FieldName = "field",
        Function = "function",
        Indices = "indices",
        Initializer = "initializer",
        Left = "left",
        Name = "name",
        Operator = "operator",
        Parameters = "parameters",
        Right = "right",
        Size = "size",
        Type = "type",
        Update = "update",
        Value = "value",
    }
);
