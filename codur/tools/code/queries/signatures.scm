(method_signature name: (_) @name) @function
