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
