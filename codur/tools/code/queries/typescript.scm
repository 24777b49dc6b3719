(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(type_alias_declaration name: (_) @name) @class
(internal_module name: (_) @name) @module
(function_signature name: (identifier) @name) @function
(abstract_method_signature name: (_) @name) @function
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @function
