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
