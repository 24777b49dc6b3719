"""What kind of request a prompt is, from its words, where no rule settles it.

A prompt is taken apart into clauses. Each clause is judged by the word it begins with (after polite words), which in a
request is the verb; a wish to change code in any clause decides for the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codur.planning.patterns.danger import clauses
from codur.planning.patterns.prompt_tokens import Token, word_set
from codur.types import CODE_TASKS, TaskType

_VERBS: Mapping[TaskType, frozenset[str]] = {
    "code_fix": word_set(
        "fix fixing fixed repair repairing debug correct solve resolve patch troubleshoot unbreak heal mend"
        " bugfix behebe beheb beheben repariere reparier reparieren korrigiere korrigieren corrige corriger"
        " corrigez répare réparer arregla arreglar repara reparar corregir soluciona solucionar repareer repareren"
        " herstel verhelp correggi ripara conserte conserta corrija arrume napraw исправь почини"
    ),
    "code_generation": word_set(
        "create creating add adding added implement implementing implemented generate generating build develop"
        " code program complete finish extend scaffold insert support introduce port prototype document comment"
        " annotate write writing draft design schreibe schreib schreiben erstelle erstell erstellen implementiere"
        " implementieren ergänze ergänzen füge écris écrire écrivez crée créer ajoute ajouter implémente"
        " implémenter génère escribe escribir crea crear añade añadir agrega agregar implementa implementar genera"
        " schrijf schrijven maak voeg implementeer scrivi aggiungi escreva crie adicione напиши создай добавь"
    ),
    "refactor": word_set(
        "refactor refactoring refactored rename renaming simplify simplifying restructure reorganize reorganise"
        " extract inline optimize optimise optimizing modernize modernise convert migrate split rewrite rewriting"
        " deduplicate reformat format lint tidy clean cleanup polish replace replacing remove removing delete drop"
        " strip change changing update updating modify modifying edit editing adjust improve improving upgrade"
        " move set swap switch transform translate turn use decouple vectorize parallelize reduce shorten sort"
        " speed überarbeite vereinfache refaktoriere ändere entferne ersetze refactorise refactoriser simplifie"
        " modifie supprime remplace refactoriza simplifica modifica cambia elimina reemplaza herschrijf"
        " vereenvoudig wijzig verwijder vervang refattorizza semplifica rimuovi refatore"
    ),
}
_CODE_VERB: Mapping[str, TaskType] = {word: kind for kind, words in _VERBS.items() for word in words}
_OTHER_VERBS: Mapping[TaskType, frozenset[str]] = {
    "file_operation": word_set(
        "show list read display print cat open view tree ls copy duplicate rename append save touch dump output"
        " put zeig zeige öffne kopiere lösche montre affiche muestra muéstrame toon"
    ),
    "search": word_set(
        "find search grep locate look where where's suche such cherche recherche busca zoek wo où dónde"
    ),
    "git": word_set(
        "git commit push pull merge rebase stash checkout branch status diff log cherry-pick revert reset clone"
        " fetch tag amend blame squash commits"
    ),
    "explanation": word_set(
        "explain describe summarize summarise what what's whats how why who which when tell clarify walk compare"
        " analyze analyse review outline is are does do did was were has have can should will could would erkläre"
        " erklär warum wie welche explique pourquoi comment qu'est-ce explica qué por cómo cuál leg waarom hoe wat"
        " spiega perché cosa understand imports dependencies overview"
    ),
    "run": word_set(
        "run execute start launch test rerun pytest python python3 führe starte exécute lance ejecuta corre"
    ),
    "web_search": word_set("google browse download websearch bing duckduckgo"),
}
_VERB: Mapping[str, TaskType] = {word: kind for kind, words in _OTHER_VERBS.items() for word in words}
_WEB = word_set("web internet online google stackoverflow stack-overflow news weather duckduckgo wikipedia")
_GIT = word_set(
    "git commit commits branch branches diff stash merge repo repository staged unstaged uncommitted remote"
)
_FAULTS = word_set(
    "bug bugs error errors fault faults defect defects problem problems issue issues mistake mistakes typo typos"
    " broken crash crashes crashing crashed fails fail failing failed failure failures wrong incorrect incorrectly"
    " exception exceptions traceback leak leaks vulnerability vulnerabilities doesn't doesnt don't won't isn't"
    " hangs hang freezes raises stuck infinite misbehaves fehler kaputt falsch bogue erreur cassé roto fallo fout"
    " kapot segfault misses forgets loses garbled odd oddly weird strange strangely missing"
)
_WISHES = word_set("should shall must needs need instead expected expects supposed ought")
_STRUCTURE = word_set("outline imports functions classes methods structure dependencies function class method")
_WEB_VERBS = word_set("search look find check browse get google what's what which")
_READING = word_set("fetch open read visit get load browse download")
_LOOKING = word_set("find search look check identify spot")
_SHOWING = word_set("show list display print give see")
_ON_OBJECTS = word_set("move delete remove erase rename copy write save add create put format merge")
_FORBIDDING = word_set("don't dont never")
_POLITE_QUESTIONS = frozenset({("is", "it"), ("would", "it"), ("how", "about"), ("why", "don't"), ("why", "not")})
_DETERMINERS = word_set("a an the this that my your our its his her their any last latest no of")
_NOT_BEFORE = _DETERMINERS | word_set("don't dont not never won't can't cannot")
_FILE_WORDS = word_set("the file folder directory")
_PASS_WORDS = word_set("pass work green succeed compile run correct")


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """The kind of request, how sure that is (0 to 1), and the word that decided."""

    task_type: TaskType = "unknown"
    confidence: float = 0.0
    reason: str = "no rule knows such a request"


_UNKNOWN = Classification()


def classify(tokens: Sequence[Token], *, names_files: bool) -> Classification:
    """The kind of request.

    Args:
        tokens: the whole prompt's.
        names_files: it names a file that exists, which makes a code task more certain.
    """
    found = [_judge(clause) for clause in clauses(tokens)]
    known = [item for item in found if item.task_type != "unknown"]
    code = [item for item in known if item.task_type in CODE_TASKS]
    if code:
        best = max(code, key=lambda item: item.confidence)
        return best if not names_files else _surer(best)
    if not known and any("Traceback (" in token.text for token in tokens if token.kind in {"fence", "paste"}):
        return Classification(task_type="code_fix", confidence=0.7, reason="a traceback was given")
    return max(known, key=lambda item: item.confidence, default=_UNKNOWN)


def _surer(found: Classification) -> Classification:
    return Classification(task_type=found.task_type, confidence=min(0.95, found.confidence + 0.05), reason=found.reason)


def _judge(clause: Sequence[Token]) -> Classification:
    words = [token.key for token in clause]
    head = words[0]
    judged = _special(clause, words)
    if judged is not None:
        return judged
    if head in _CODE_VERB and len(words) > 1:
        return _as(_CODE_VERB[head], 0.9, head)
    if head in _CODE_VERB:
        return _as(_CODE_VERB[head], 0.6, head)
    asked = _VERB.get(head)
    if asked in {None, "explanation"}:
        inner = _inner(words, question=asked is not None)
        if inner is not None:
            return inner
    return _as(asked, 0.8, head) if asked is not None else _UNKNOWN


def _special(clause: Sequence[Token], words: Sequence[str]) -> Classification | None:
    """Verbs whose kind depends on their object."""
    head, rest = words[0], set(words[1:])
    if head in _FORBIDDING:
        return _UNKNOWN
    if (rest & _WEB and head in _WEB_VERBS) or (head in _READING and any("://" in word for word in rest)):
        return _as("web_search", 0.9, "web")
    if head in {"make", "get", "have", "let"}:
        return _made(words, rest)
    if head in _LOOKING and rest & _FAULTS:
        return _as("code_fix", 0.6, f"{head} faults")
    if head in _SHOWING and rest & (_GIT | _STRUCTURE):
        return _as("git" if rest & _GIT else "explanation", 0.8, head)
    return _on_object(clause, head) if head in _ON_OBJECTS else None


def _made(words: Sequence[str], rest: set[str]) -> Classification | None:
    """`make … pass` and `get … working` are fixes, `make a …` makes something, `make … faster` changes it."""
    if rest & _PASS_WORDS or "working" in rest:
        return _as("code_fix", 0.8, f"{words[0]} it work")
    if words[0] != "make" or len(words) < 2:
        return None
    return _as("code_generation" if words[1] in {"a", "an", "me", "new", "some"} else "refactor", 0.8, "make")


def _on_object(clause: Sequence[Token], head: str) -> Classification | None:
    """With a file itself as the object it is a file operation, with what is in a file it changes code."""
    place = next((index for index, token in enumerate(clause[1:], 1) if token.key not in _FILE_WORDS), 0)
    if not place:
        return None
    target = clause[place]
    alone = head in {"delete", "remove", "erase"} and place == len(clause) - 1 and target.key not in _DETERMINERS
    is_path = target.kind == "word" and (alone or any(char in target.text for char in "./*"))
    at_file = any("." in token.text and token.kind in {"word", "code"} for token in clause[place + 1 :])
    given = target.kind in {"quote", "code"} and at_file and head in {"write", "save", "add", "put"}
    if head in {"create", "format", "merge"} or not (is_path or given):
        return None
    return _as("file_operation", 0.7, head) if given or head not in {"write", "add"} else None


def _inner(words: Sequence[str], *, question: bool) -> Classification | None:
    """A wish or complaint inside a statement, or inside a question that may be one ("could the bug be fixed")."""
    if question and tuple(words[:2]) not in _POLITE_QUESTIONS:
        return None
    for before, word in zip(["", *words], words, strict=False):
        if word in _FAULTS and not question:  # "it crashes since we added …" tells what happened, it is no wish to add
            break
        if word in _CODE_VERB and before not in _NOT_BEFORE and not word.startswith(("use", "set", "code", "program")):
            return _as(_CODE_VERB[word], 0.7, word)
    if question:
        return None
    return _complaint(words)


def _complaint(words: Sequence[str]) -> Classification | None:
    fault = next((word for word in words if word in _FAULTS), "")
    if not fault and len(words) > 3 and "too" in words[2:-1]:  # "main.py prints sums that are too small"
        fault = "too"
    if fault:
        return _as("code_fix", 0.7, fault)
    wish = next((word for word in words if word in _WISHES), "")
    return _as("code_fix", 0.6, wish) if wish else None


def _as(task_type: TaskType, confidence: float, word: str) -> Classification:
    kind = task_type.replace("_", " ")
    return Classification(task_type=task_type, confidence=confidence, reason=f"{kind}: {word!r}")
