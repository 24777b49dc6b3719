"""Requests for a Python file's structure, and for what a file is. The latter a model tells, if one can be asked."""

from __future__ import annotations

from codur.planning.patterns.rules.rule import Found, Rule, Settled, call, on_file
from codur.types import Step

_ONE = "(function|functions|class|classes|method|methods|definitions|symbols|function names|class names)"
_THINGS = f"{_ONE} [(and|or|,|/) [{_ONE}]]"
_SLASHED = "(functions/classes|classes/functions|functions/methods|classes/methods)"
_ANY_THINGS = f"({_THINGS}|{_SLASHED})"
_SHOW = "(show|list|display|print|give|get|name|see)"


def _outline(found: Found) -> Settled | None:
    return on_file(found["FILE"], found.names, lambda path: _python("python_ast_outline", "Outline", path))


def _imports(found: Found) -> Settled | None:
    return on_file(
        found["FILE"], found.names, lambda path: _python("python_ast_dependencies", "Show the imports of", path)
    )


def _python(tool: str, verb: str, path: str) -> Settled | None:
    return call(tool, f"{verb} {path}.", path=path) if path.endswith(".py") else None


def _explain(found: Found) -> Settled | None:
    """A file that is there; another one's name may stand for what such files are in general."""
    path = found["FILE"].path
    return Settled(step=Step(id="explain", action="respond"), explains=path) if path else None


_FILE = "[the] [whole] [file|module|script|program|code] [(in|of|from) [the] [file]] FILE"
RULES = (
    Rule(
        name="explain a file",
        phrases=(
            f"(explain|describe|summarize|summarise) [me|us] [to me|to us] {_FILE} [to me|to us]",
            f"(explain|describe|tell me|show me) (what|how) {_FILE} (does|works|is for|is about)",
            f"what (does|is) {_FILE} (do|for|about)",
            f"how does {_FILE} work",
            f"(tell|teach) (me|us) about {_FILE}",
            f"walk (me|us) through {_FILE}",
            f"give (me|us) (an explanation|a description|a summary|an overview) of {_FILE}",
            f"(erkläre|erklär) [mir|uns] {_FILE}",
            "was (macht|tut) FILE",
            "(explique|explique-moi|que fait) FILE",
            "(explica|qué hace) FILE",
            "(wat doet) FILE",
        ),
        build=_explain,
    ),
    Rule(
        name="outline of a file",
        phrases=(
            f"[{_SHOW}] [me] [the|an|a] (outline|structure|skeleton) (of|for|from) [the] [file|module] FILE",
            "outline [the] [file|module] FILE",
            f"(which|what) {_ANY_THINGS} (are|exist|are there|are defined|are declared) (in|inside) [the] [file] FILE",
            f"(which|what) {_ANY_THINGS} does [the] [file|module] FILE (have|define|contain|declare|provide|offer)",
            f"(what are) [all] the {_ANY_THINGS} [defined|declared] (in|of|inside) [the] [file] FILE",
            f"[{_SHOW}] [me] [all] [of] [the] {_ANY_THINGS} [defined|declared|that are defined] (in|of|from|inside)"
            " [the] [file] FILE",
            "what does [the] [file|module] FILE define",
            "(welche) (funktionen|klassen) (sind in|gibt es in|hat) FILE",
            "quelles (fonctions|classes) (sont dans|contient) FILE",
        ),
        build=_outline,
    ),
    Rule(
        name="imports of a file",
        phrases=(
            "(what|which) [modules|module|packages|libraries|files] does [the] [file|module] FILE"
            " (import|depend on|use from elsewhere)",
            f"[{_SHOW}] [me] [all] [of] [the] (imports|import statements|dependencies|imported modules)"
            " (of|in|for|from) [the] [file|module] FILE",
            "(what are) [all] the (imports|dependencies) (of|in|for) [the] [file|module] FILE",
            "(what|which) [modules|packages|libraries] (is|are) imported (in|by) [the] [file] FILE",
            "was importiert FILE",
        ),
        build=_imports,
    ),
)
