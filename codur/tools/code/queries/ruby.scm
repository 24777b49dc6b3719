(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(call
  method: (identifier) @_called
  arguments: (argument_list . (simple_symbol) @name)
  block: (_)
  (#any-of? @_called "define_method" "define_singleton_method" "let" "let!" "subject" "subject!")) @function
(call
  method: (identifier) @_called
  arguments: (argument_list . (string) @name)
  block: (_)
  (#any-of? @_called "it" "specify" "example" "scenario" "test" "should")) @function @test
(call method: (identifier) @name !arguments block: (_) (#any-of? @name "it" "specify")) @function @test
(call method: (identifier) @name !arguments block: (_) (#any-of? @name "subject" "subject!")) @function
(call
  method: (identifier) @_called
  arguments: (argument_list . (_) @name)
  block: (_)
  (#any-of? @_called "describe" "context" "feature" "shared_examples" "shared_examples_for" "shared_context")) @module
(class name: (_) @name) @class
(module name: (_) @name body: (body_statement [(method) (singleton_method) (singleton_class)])) @class
(module name: (_) @name) @module
(assignment
  left: (constant) @name
  right: (call receiver: (constant) @_made block: (_))
  (#any-of? @_made "Class" "Data" "Module" "Struct")) @class
(call
  method: (identifier) @_called
  arguments: (argument_list [(constant) @base (scope_resolution name: (constant) @base)])
  (#any-of? @_called "include" "extend" "prepend"))
(assignment left: (constant) @constant)
(call method: (identifier) @_called arguments: (argument_list (simple_symbol) @constant)
  (#any-of? @_called "attr_accessor" "attr_reader" "attr_writer"))
(call method: (identifier) @_called arguments: (argument_list . (simple_symbol) @constant)
  (#eq? @_called "alias_method"))
(alias name: (_) @constant)
(call !receiver method: (identifier) @_called arguments: (argument_list . (string) @import)
  (#any-of? @_called "require" "require_relative" "load"))
(call method: (identifier) @_called arguments: (argument_list (simple_symbol) (string) @import)
  (#eq? @_called "autoload"))
