(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(namespace_definition name: (_) @name body: (_)) @module
(function_call_expression
  function: (name) @_called
  arguments: (arguments
    . (argument [(string) (encapsed_string)] @name)
    (argument [(anonymous_function) (arrow_function)]))
  (#any-of? @_called "it" "test")) @function @test
(function_call_expression
  function: (name) @_called
  arguments: (arguments
    . (argument [(string) (encapsed_string)] @name)
    (argument (anonymous_function)))
  (#eq? @_called "describe")) @module
(use_declaration [(name) @base (qualified_name (name) @base)])
(const_element . (name) @constant)
(property_element name: (variable_name (name) @constant))
(property_promotion_parameter name: (variable_name (name) @constant))
(function_call_expression
  function: (name) @_called
  arguments: (arguments . (argument (string (string_content) @constant)))
  (#eq? @_called "define"))
(namespace_use_declaration . (namespace_use_clause [(name) (qualified_name)] @import))
(namespace_use_declaration (namespace_name) body: (namespace_use_group (namespace_use_clause . (_) @import)))
([(include_expression (_) @import) (include_once_expression (_) @import)
  (require_expression (_) @import) (require_once_expression (_) @import)])
