"""What Codur knows of languages other than Python: whose files they are, and where their grammars have what is shown.

A query marks with `@function`, `@class` or `@module` (a namespace, or a group of tests) what is shown as a whole, with
its `@name`; `@owner` is the class of a method that stands outside of it, `@self` what it calls its object, `@base` a
class that the one around it builds on, `@test` a test by its form, `@constant` a name that a file gives at its top, and
`@import` what it imports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from codur.structs import Struct

_JAVASCRIPT = r"""
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
(assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_place)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]
  (#eq? @_place "prototype")) @function
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(class_declaration name: (_) @name) @class
(variable_declarator name: (identifier) @name value: (class)) @class
(call_expression
  function: [(identifier) @_called (member_expression object: (identifier) @_called)]
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)])
  (#any-of? @_called "it" "test" "specify")) @function @test
(call_expression
  function: [(identifier) @_called (member_expression object: (identifier) @_called)]
  arguments: (arguments . [(string) (template_string)] @name [(arrow_function) (function_expression)])
  (#any-of? @_called "describe" "suite" "context")) @module
(program (lexical_declaration (variable_declarator name: (identifier) @constant)))
(program (variable_declaration (variable_declarator name: (identifier) @constant)))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @constant))))
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (identifier) @_called arguments: (arguments . (string) @import)
  (#eq? @_called "require"))
"""
_FIELDS = "({} property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function\n"
_TYPESCRIPT = r"""
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(type_alias_declaration name: (_) @name) @class
(internal_module name: (_) @name) @module
(function_signature name: (identifier) @name) @function
(abstract_method_signature name: (_) @name) @function
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @function
"""
_GO = r"""
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration
    name: (identifier)? @self
    type: [
      (type_identifier) @owner
      (pointer_type (type_identifier) @owner)
      (generic_type type: (type_identifier) @owner)
      (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name) @function
(type_spec name: (type_identifier) @name) @class
(type_alias name: (type_identifier) @name) @class
(field_declaration !name type: [(type_identifier) @base (qualified_type name: (type_identifier) @base)])
(source_file (const_declaration (const_spec name: (identifier) @constant)))
(source_file (var_declaration (var_spec name: (identifier) @constant)))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @constant))))
(import_spec path: (_) @import)
"""
_RUST = r"""
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(impl_item type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
  (scoped_type_identifier name: (type_identifier) @name)
  (reference_type type: (type_identifier) @name)]) @class
(trait_item name: (_) @name) @class
(struct_item name: (_) @name) @class
(enum_item name: (_) @name) @class
(union_item name: (_) @name) @class
(type_item name: (_) @name) @class
(mod_item name: (_) @name body: (_)) @module
(mod_item name: (_) @import !body)
(source_file (const_item name: (_) @constant))
(source_file (static_item name: (_) @constant))
(use_declaration argument: (_) @import)
"""
_JAVA = r"""
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(compact_constructor_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(annotation_type_declaration name: (_) @name) @class
(field_declaration declarator: (variable_declarator name: (_) @constant))
(import_declaration) @import
"""
_C = r"""
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (_ declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (_ declarator: (_ declarator: (function_declarator
  declarator: (identifier) @name)))) @function
(preproc_function_def name: (_) @name) @function
(type_definition type: (_ body: (_)) declarator: (type_identifier) @name) @class
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @class
(type_definition type: (_ !body) declarator: (type_identifier) @constant)
(preproc_def name: (_) @constant)
(enumerator name: (_) @constant)
(translation_unit (declaration declarator: [
  (identifier) @constant
  (_ declarator: (identifier) @constant)
  (_ declarator: (_ declarator: (identifier) @constant))]))
(preproc_include path: (_) @import)
"""


class Grammar(Struct):
    """A language, and how its grammar is read.

    Attributes:
        language: what it is called.
        family: what files have in common that see each other's names.
        package: the wheel's module.
        function: of the module, gives the grammar.
        methods_outside: methods stand outside of their class.
        package_wide: files of one folder see each other's names without an import.
    """

    language: str
    family: str
    package: str
    function: str = "language"
    query: str
    package_wide: bool = False
    methods_outside: bool = False


_SCRIPT = Grammar(
    language="JavaScript",
    family="JavaScript",
    package="tree_sitter_javascript",
    query=_JAVASCRIPT + _FIELDS.format("field_definition"),
)
_TYPED = Grammar(
    language="TypeScript",
    family="JavaScript",
    package="tree_sitter_typescript",
    function="language_typescript",
    query=_JAVASCRIPT + _TYPESCRIPT,
)
_TYPED_MARKUP = Grammar(
    language="TypeScript",
    family="JavaScript",
    package="tree_sitter_typescript",
    function="language_tsx",
    query=_JAVASCRIPT + _TYPESCRIPT,
)
_GOES = Grammar(
    language="Go", family="Go", package="tree_sitter_go", query=_GO, package_wide=True, methods_outside=True
)
_RUSTS = Grammar(language="Rust", family="Rust", package="tree_sitter_rust", query=_RUST)
_JAVAS = Grammar(language="Java", family="Java", package="tree_sitter_java", query=_JAVA, package_wide=True)
_CS = Grammar(language="C", family="C", package="tree_sitter_c", query=_C)

BY_SUFFIX: Final[Mapping[str, Grammar]] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), _SCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPED),
    ".tsx": _TYPED_MARKUP,
    ".go": _GOES,
    ".rs": _RUSTS,
    ".java": _JAVAS,
    **dict.fromkeys((".c", ".h"), _CS),
}
"""The grammar of each file's suffix."""
