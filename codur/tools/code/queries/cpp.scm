(function_definition
  declarator: (function_declarator
    declarator: (identifier) @_called
    parameters: (parameter_list
      . (parameter_declaration !declarator) @owner
      . (parameter_declaration !declarator) @name .))
  (#any-of? @_called "TEST" "TEST_F" "TEST_P" "TYPED_TEST")) @function @test
(((expression_statement
    (call_expression function: (identifier) @_called arguments: (argument_list . (string_literal) @name)))
  . (compound_statement) @function) @test
  (#any-of? @_called "TEST_CASE" "SCENARIO"))
; A class with a macro before its name, as those that a library exports have, which the grammar takes for a function.
(function_definition
  type: [(class_specifier !body) (struct_specifier !body)]
  (ERROR . (identifier) @name)
  declarator: (identifier) @base) @class
(function_definition type: [(class_specifier !body) (struct_specifier !body)] declarator: (identifier) @name) @class
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (_ (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (_ (_ (function_declarator declarator: (_) @name)))) @function
(preproc_function_def name: (_) @name) @function
(type_definition type: (_ body: (_)) declarator: (type_identifier) @name) @class
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(type_definition type: (_ !body) declarator: (type_identifier) @constant)
(alias_declaration name: (_) @constant)
(preproc_def name: (_) @constant)
(enumerator name: (_) @constant)
(field_declaration declarator: [
  (function_declarator declarator: (field_identifier) @constant)
  (_ (function_declarator declarator: (field_identifier) @constant))])
(translation_unit (declaration declarator: [
  (identifier) @constant
  (_ declarator: (identifier) @constant)
  (_ declarator: (_ declarator: (identifier) @constant))]))
(declaration_list (declaration declarator: [
  (identifier) @constant
  (_ declarator: (identifier) @constant)
  (_ declarator: (_ declarator: (identifier) @constant))]))
(preproc_include path: (_) @import)
