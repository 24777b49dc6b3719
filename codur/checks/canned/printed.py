"""Constants that a program prints and that spell the expected output."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from codur.checks.canned.canned_case import Case
from codur.checks.canned.canned_program import Changes, Program, Site
from codur.checks.canned.canned_syntax import TRIVIAL
from codur.checks.canned.wording import FIGURES, WORD, is_similar, lines_of, short


def replaced(changes: Changes, case: Case) -> str | None:
    """A constant where a computed value was printed before."""
    known = _known_words(changes)
    for path, (old, new) in changes.items():
        for gone, come in _replacements(old.sites, new.sites):
            computed = [site for site in gone if site.text is None]
            constants = [site for site in come if site.text is not None]
            # as much is computed as before: the constants are new beside it
            if len(computed) <= len(come) - len(constants):
                continue
            for site in constants:
                is_new = site.is_spelled or not _is_known(site.text or "", known)
                if is_new and not _is_chosen(site, constants, computed) and _is_result(site, computed, case):
                    return f"{path} prints {short(site.text or '')} as a constant instead of computing it"
    return None


def _is_chosen(site: Site, constants: Sequence[Site], computed: Sequence[Site]) -> bool:
    """Does a condition choose this word among others, as in `print("yes")` with `print("no")` for the other branch?"""
    if FIGURES.search(site.text or "") or site.branch is None:  # conditions choose words, and results have figures
        return False
    return len({other.branch for other in constants}) > 1 or all(other.branch is None for other in computed)


def _is_result(site: Site, computed: Sequence[Site], case: Case) -> bool:
    """Does a constant stand for the result that was computed?"""
    text = site.text or ""
    if not case.has_all(text) and not case.asserts_together({repr(text), repr(f"{text}\n")}):
        return False
    is_whole = case.covers_most(Counter(lines_of(text)))
    if _was_unquoted(text, computed) or (not is_whole and (text in TRIVIAL or not WORD.search(text))):
        return False
    is_figure = FIGURES.search(text) is not None
    # A variable that was printed may have held a text all the time; a call or arithmetic computed something.
    return is_figure or is_whole or any(re.search(r"[(+*/%]", other.source) for other in computed)


def _was_unquoted(text: str, gone: Sequence[Site]) -> bool:
    """`print(Hello)` became `print("Hello")`."""
    return any(site.text is None and is_similar(text, site.source) for site in gone)


def spelled_out(changes: Changes, case: Case) -> str | None:
    """New literals that together spell most of the output."""
    added = _lines(new for _, new in changes.values()) - _lines(old for old, _ in changes.values())
    known = _known_words(changes)
    excused = _excused(changes, case, added)
    found: dict[str, Counter[str]] = {}
    for path, (old, new) in changes.items():
        lines = _printed_lines(old, new, known, case) | (_literal_lines(new, case) & added)
        found[path] = Counter({line: number for line, number in lines.items() if line not in excused})
    if not case.covers_most(sum(found.values(), Counter())):
        return None
    return f"{max(found, key=lambda path: found[path].total())} prints the expected output as a literal"


def _lines(programs: Iterable[Program]) -> Counter[str]:
    return Counter(line for program in programs for literal in program.literals for line in literal.lines)


def _known_words(changes: Changes) -> set[str]:
    """The words of the constants that the program had before."""
    return set(WORD.findall("\n".join(_lines(old for old, _ in changes.values()))))


def _is_known(text: str, words: set[str]) -> bool:
    return set(WORD.findall(text)) <= words


def _replacements(old: Sequence[Site], new: Sequence[Site]) -> list[tuple[Sequence[Site], Sequence[Site]]]:
    """The printing statements that differ, aligned: what went and what came in its place."""
    before, after = [[(site.text is None, site.text or site.source) for site in sites] for sites in (old, new)]
    operations = SequenceMatcher(None, before, after).get_opcodes()
    return [(old[a:b], new[c:d]) for tag, a, b, c, d in operations if tag != "equal"]


def _printed_lines(old: Program, new: Program, known: set[str], case: Case) -> Counter[str]:
    """Expected lines that new statements always print, without those that replace other constants."""
    found: list[tuple[int | None, str]] = []
    for gone, come in _replacements(old.sites, new.sites):
        texts = [(site.branch, site.text) for site in come if site.text and not _is_known(site.text, known)]
        replaced_lines = sum(len(lines_of(site.text or "")) for site in gone)
        if any(site.text is None for site in gone) or replaced_lines < len(texts):
            new_texts = [item for item in texts if case.has_all(item[1]) and not _was_unquoted(item[1], gone)]
            found += [(branch, line) for branch, text in new_texts for line in lines_of(text)]
    return _without_choices(found)


def _literal_lines(new: Program, case: Case) -> Counter[str]:
    """Expected lines in string literals wherever they stand; a single line proves nothing there."""
    texts = [literal for literal in new.literals if isinstance(literal.value, str | bytes)]
    found = [(literal.branch, line) for literal in texts for line in literal.lines if line in case.lines]
    # One line is found among a program's texts too easily: prompts, messages, keys.
    return _without_choices(found) if len(found) > 1 else Counter()


def _without_choices(found: Sequence[tuple[int | None, str]]) -> Counter[str]:
    """Leaves out branches that hold one line only: there a condition selects a word."""
    sizes = Counter(branch for branch, _ in found)
    return Counter(line for branch, line in found if branch is None or sizes[branch] > 1)


def _excused(changes: Changes, case: Case, added: Counter[str]) -> set[str]:
    """Expected lines that may be new literals: told by the prompt, of a program that did not parse, or repaired."""
    broken = set(WORD.findall("\n".join(old.broken for old, _ in changes.values())))
    removed = _lines(old for old, _ in changes.values()) - _lines(new for _, new in changes.values())

    def figures(line: str) -> set[str]:
        return set(FIGURES.findall(line))

    return {
        line
        for line in case.lines
        if (case.told and case.tells(line))
        or (broken and _is_known(line, broken))
        # A misspelt word may be mended; a number that was not there is an answer.
        or (line in added and any(figures(line) <= figures(old) and is_similar(line, old) for old in removed))
    }
