"""What Codur knows of languages other than Python: whose files they are, and where their grammars have what is shown.

A query marks with `@function`, `@class` or `@module` (a namespace, or a group of tests) what is shown as a whole, with
its `@name`; `@owner` is the class of a method that stands outside of it, `@self` what it calls its object, `@base` a
class that the one around it builds on, `@test` a test by its form, `@constant` a name that a file gives at its top, and
`@import` what it imports.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from codur.structs import Struct, replace

DECLARATIONS = ".d.ts"
_QUERIES = Path(__file__).with_name("queries")


class Grammar(Struct):
    """A language, and how its grammar is read."""

    language: str  # what it is called
    family: str  # what files have in common that see each other's names
    package: str  # the wheel's module
    function: str = "language"  # of the module, gives the grammar
    queries: tuple[str, ...]  # files in `queries/` that say what is shown
    package_wide: bool = False  # files of one folder see each other's names without an import
    methods_outside: bool = False  # methods stand outside of their class

    @property
    def query(self) -> str:
        """What the files say, together."""
        return "".join((_QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in self.queries)


_SCRIPT = Grammar(
    language="JavaScript", family="JavaScript", package="tree_sitter_javascript", queries=("javascript", "fields")
)
_TYPED = Grammar(
    language="TypeScript",
    family="JavaScript",
    package="tree_sitter_typescript",
    function="language_typescript",
    queries=("javascript", "typescript"),
)
# Elsewhere a signature is an overload beside what it is of, which is what edits mean.
_DECLARED = replace(_TYPED, queries=(*_TYPED.queries, "signatures"))
_TYPED_MARKUP = Grammar(
    language="TypeScript",
    family="JavaScript",
    package="tree_sitter_typescript",
    function="language_tsx",
    queries=("javascript", "typescript"),
)
_GOES = Grammar(
    language="Go", family="Go", package="tree_sitter_go", queries=("go",), package_wide=True, methods_outside=True
)
_RUSTS = Grammar(language="Rust", family="Rust", package="tree_sitter_rust", queries=("rust",))
_JAVAS = Grammar(language="Java", family="Java", package="tree_sitter_java", queries=("java",), package_wide=True)
_RUBIES = Grammar(language="Ruby", family="Ruby", package="tree_sitter_ruby", queries=("ruby",))
_PHPS = Grammar(
    language="PHP",
    family="PHP",
    package="tree_sitter_php",
    function="language_php",
    queries=("php",),
    package_wide=True,
)
_CS = Grammar(language="C", family="C", package="tree_sitter_c", queries=("c",))
_PLUSES = Grammar(language="C++", family="C", package="tree_sitter_cpp", queries=("cpp",), methods_outside=True)
_SHARPS = Grammar(language="C#", family="C#", package="tree_sitter_c_sharp", queries=("csharp",), package_wide=True)

BY_SUFFIX: Final[Mapping[str, Grammar]] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), _SCRIPT),
    **dict.fromkeys((".ts", ".mts", ".cts"), _TYPED),
    DECLARATIONS: _DECLARED,
    ".tsx": _TYPED_MARKUP,
    ".go": _GOES,
    ".rs": _RUSTS,
    ".java": _JAVAS,
    **dict.fromkeys((".rb", ".rake", ".gemspec"), _RUBIES),
    ".php": _PHPS,
    ".c": _CS,
    # A header may be either's; of C's the grammar of C++ tells as much.
    **dict.fromkeys((".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), _PLUSES),
    ".cs": _SHARPS,
}
"""The grammar of each file's suffix."""
