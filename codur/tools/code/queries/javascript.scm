(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
; `const Field = memo(() => …)`: the function that another makes of this one.
((program [
  (lexical_declaration (variable_declarator name: (identifier) @name
    value: (call_expression
      function: [(identifier) @_maker (member_expression property: (property_identifier) @_maker)]
      arguments: (arguments [(arrow_function) (function_expression)]))) @function)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name
    value: (call_expression
      function: [(identifier) @_maker (member_expression property: (property_identifier) @_maker)]
      arguments: (arguments [(arrow_function) (function_expression)]))) @function))])
  (#not-match? @_maker "^(map|filter|reduce|find|some|every|sort|flatMap|from|then|catch|on|setTimeout|setInterval|replace)$"))
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
