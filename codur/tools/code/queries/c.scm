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
