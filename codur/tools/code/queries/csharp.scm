(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(local_function_statement name: (_) @name) @function
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_)))) @function
(property_declaration name: (_) @name value: (arrow_expression_clause)) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(delegate_declaration name: (_) @name) @class
(namespace_declaration name: (_) @name) @module
(field_declaration (variable_declaration (variable_declarator name: (_) @constant)))
(event_field_declaration (variable_declaration (variable_declarator name: (_) @constant)))
(property_declaration name: (_) @constant)
(using_directive (_) @import)
