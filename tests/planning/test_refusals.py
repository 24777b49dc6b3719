"""Refusals, questions and orders in the languages that prompts are often written in."""

from __future__ import annotations

import pytest

from codur.checks.stated_output import asks_tests_elsewhere, forbids_tests
from codur.planning.patterns.classify import classify
from codur.planning.patterns.prompt_tokens import read_prompt
from codur.planning.patterns.refusals import is_about_prose, keeps_a_part, kept_files
from codur.planning.renaming import renamed
from codur.questions import MAY_CHANGE, granted_by
from codur.types import CODE_TASKS

NONE = (
    "nicht reparieren",
    "nichts reparieren, nur anschauen",
    "nur anschauen, nichts reparieren",
    "bitte nichts ändern, nur sagen ob man rechnung.py reparieren muss",
    "ne corrige pas rechnung.py",
    "ne corrige rien, dis-moi seulement ce qui ne va pas",
    "corrige pas, regarde seulement calendrier.py",
    "não corrija nada, apenas olhe rechnung.py",
    "nao conserte o programa, só rode os testes",
    "¿hay que arreglar rechnung.py?",
    "faut-il corriger rechnung.py ?",
    "soll ich rechnung.py reparieren?",
    "repariere rechnung.py nicht",
    "nicht reparieren, nur die tests laufen lassen",
    "do not fix rechnung.py, only look",
    "should I fix rechnung.py?",
    "no arregles rechnung.py, solo mira",
    "不要修复 计算.py",
    "先别修复,只看看",
    "直さないで、informe.pyを見て",
    "informe.pyを直してもいいですか？",
    "需要修复 计算.py 吗？",
    "no hace falta arreglar informe.py",
    "bitte rechnung.py noch nicht reparieren",
    "Rechnung.py keinesfalls reparieren, nur den Fehler beschreiben",
    "erkläre den Fehler, ohne ihn zu beheben",
    "liste alle Fehler auf, behebe sie nicht",
    "explique le bug sans le corriger",
    "no need to fix rechnung.py",
    "non correggere main.py, guarda soltanto",
    "repareer main.py niet",
)
"""No order to mend anything."""
PARTLY = (
    "repariere die funktion rabatt, rühr zwischensumme nicht an",
    "fix rabatt, don't touch zwischensumme",
    "repariere rechnung.py ohne zwischensumme anzufassen",
    "arregla rechnung.py sin tocar la funcion zwischensumme",
    "corrige rechnung.py sans toucher à zwischensumme",
    "repariere das, rechnung.py darf nicht geändert werden",
    "Bitte nicht anfassen: rechnung.py. Behebe den Fehler.",
    "修复 计算.py,不要改 总价",
    "fix main.py but leave total() as it is",
    "arregla la salida, pero no cambies la funcion ordenar",
    "repariere nur die Tests, nicht rechnung.py",
    "fix main.py but don't touch total",
    "fix main.py and don't change total",
    "fix main.py, don’t touch total",
    "fix main.py (don't touch total)",
    "fix main.py - do not touch total",
    "fix main.py, don't touch get_latest",
    "fix main.py, don't touch total or the tests",
    "fix main.py. You must not change total",
    "fix main.py, total must stay as it is",
)
"""Something is to stay as it is."""
ORDERS = (
    "Die Summe stimmt nicht, bitte reparieren",
    "bitte reparieren ohne die Tests zu ändern",
    "kannst du rechnung.py reparieren?",
    "puedes arreglar rechnung.py?",
    "Die Tests schlagen fehl",
    "die tests sind rot, mach sie grün",
    "los tests fallan, arréglalo",
    "les tests échouent",
    "测试失败了,请修复,不要改测试",
    "修复 计算.py 里的bug",
    "修复 informe.py",
    "informe.pyを直して",
    "テストを直して",
    "arregla informe.py sin tocar los tests",
    "исправь ошибку в informe.py",
    "conserta o programa",
    "corrige le programme stp",
    "repariere main.py, die Summe stimmt nicht",
    "arregla main.py que no funciona",
    "can you fix main.py?",
    "fix main.py, the total does not change",
    "fix main.py without changing anything else",
    "fix main.py; don't change the tests",
    "how about fixing main.py?",
    "the tests fail, can you fix them?",
    "fix main.py, no need to add tests",
    "Fix the bug in main.py. No need to change the tests.",
    "arregla main.py, no hay salida",
    "arregla main.py, no es correcto el total",
    "conserta main.py, não funciona",
    "corrige le bug: rien ne s'affiche",
    "repariere main.py. Nichts wird ausgegeben.",
    "repareer main.py, niets werkt",
    "corrige main.py ça ne marche pas",
    "fix main.py, there is no alternative",
    "fix the bug that no modified rows are shown",
    "any chance you can fix main.py?",
    "main.py prints 3 instead of 6?",
    "the output is wrong (should be 6?)",
    "fix the bug that the values don't change",
    "fix main.py, the list must stay sorted",
)


def is_fix(prompt: str) -> bool:
    return classify(read_prompt(prompt).tokens).task_type == "code_fix"


@pytest.mark.parametrize("prompt", NONE)
def test_what_forbids_a_repair_or_asks_about_one_is_no_order(prompt: str) -> None:
    assert not is_fix(prompt)


def test_another_name_of_a_file_is_no_change_of_code() -> None:
    assert classify(read_prompt("renombra a.txt a b.txt").tokens).task_type == "unknown"
    assert classify(read_prompt("renombra total a suma").tokens).task_type == "refactor"


@pytest.mark.parametrize("prompt", PARTLY)
def test_what_has_to_stay_as_it_is_is_seen(prompt: str) -> None:
    assert keeps_a_part(prompt)


@pytest.mark.parametrize("prompt", ORDERS)
def test_an_order_is_one_whatever_it_says_of_the_fault_and_of_tests(prompt: str) -> None:
    assert is_fix(prompt)
    assert not keeps_a_part(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "corrige les fautes d'orthographe dans rechnung.py",
        "korrigiere die Rechtschreibung in den Kommentaren",
        "corrige la ortografía de los comentarios",
        "fix the spelling in the comments of main.py",
        "corrija o README",
    ],
)
def test_what_people_read_is_not_what_a_check_finds(prompt: str) -> None:
    assert is_about_prose(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "fix main.py, total has a grammar of its own",
        "fix the parser grammar, the tests fail",
        "fix the tokenizer: punctuation is dropped",
        "fix the bug described in ISSUE.md",
    ],
)
def test_what_a_program_reads_is_no_prose(prompt: str) -> None:
    assert not is_about_prose(prompt)


def test_a_long_clause_takes_no_long_time() -> None:
    """In time that grows with its square this would take minutes."""
    assert not keeps_a_part("fix main.py " + "a no b ne c " * 20_000)


@pytest.mark.parametrize(
    ("prompt", "alone"),
    [
        ("schreib tests für rabatt, auf deutsch benannt", True),
        ("escribe pruebas para rabatt", True),
        ("écris des tests pour total", True),
        ("напиши тесты для итого", True),
        ("为 总价 写测试", True),
        ("テストを書いて", True),
        ("ajoute une option et des tests", False),
    ],
)
def test_tests_are_asked_for(prompt: str, alone: bool) -> None:
    assert asks_tests_elsewhere(prompt)
    assert asks_tests_elsewhere(prompt, alone=True) == alone
    assert not forbids_tests(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "schreibe keine Tests",
        "mejora el código sin tocar los tests",
        "repariere main.py, ohne die Tests zu ändern",
        "修复 main.py,不要改测试",
    ],
)
def test_tests_are_forbidden(prompt: str) -> None:
    assert forbids_tests(prompt)
    assert not asks_tests_elsewhere(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "die Tests laufen nicht",
        "repariere main.py, es laufen nicht alle Tests",
        "corrige main.py, il ne passe pas les tests",
        "Не проходят тесты, исправь",
        "fix sin so that its tests pass",
        "write a sin function with tests",
    ],
)
def test_a_complaint_about_tests_forbids_none(prompt: str) -> None:
    assert not forbids_tests(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "create a Stack class with tests",
        "create an endpoint /test that returns ok",
        "Create a Test model in models.py with a name field",
        "the cream colour test fails, fix it",
        "fix the loader, it creates a test directory twice",
        "füge eine Funktion test hinzu",
    ],
)
def test_what_is_no_wish_for_tests_in_another_language(prompt: str) -> None:
    assert not asks_tests_elsewhere(prompt)


@pytest.mark.parametrize(
    ("prompt", "old"),
    [
        ("benenne die Funktion summe in gesamt um", "summe"),
        ("bitte benenne summe in gesamt um", "summe"),
        ("renombra la función rabatt a descuento", "rabatt"),
        ("renomme la fonction rabatt en remise", "rabatt"),
        ("переименуй функцию summa в itogo", "summa"),
        ("rename 总价 to 合计", "总价"),
        ("renombra la función rabatt a descuento, tests incluidos", "rabatt"),
        ("переименуй функцию summa в itogo, в тестах тоже", "summa"),
        ("renombra la función rabatt a descuento y mejora el resto", ""),
    ],
)
def test_another_name_is_asked_for(prompt: str, old: str) -> None:
    assert renamed(prompt) == old


@pytest.mark.parametrize(
    ("answer", "granted"),
    [
        *((yes, True) for yes in ("ja", "Ja, gerne.", "oui, bien sûr", "sí", "да", "是", "はい", "yes, all of them")),
        *(
            (no, False)
            for no in ("nein", "si, ma non test_b.py", "oui, sauf test_b.py", "ja, außer test_b.py", "si jamais")
        ),
        ("はい、でもtest_bは変えないで", False),
        ("ls; cd ..", False),
    ],
)
def test_a_yes_in_any_language_stands_alone(answer: str, granted: bool) -> None:
    asked = f"You asked: {MAY_CHANGE.format(paths='test_a.py, test_b.py')}\nThe user answered: {answer}"
    assert bool(list(granted_by(asked))) == granted


@pytest.mark.parametrize(
    ("prompt", "order"),
    [
        ("how many rows are there, and what is the total? change nothing", False),
        ("find the bug in main.py but do not change anything", False),
        ("fix main.py without touching any files", False),
        ("fix main.py, change nothing else", True),
        ("fix main.py, don't change anything in util.py", True),
    ],
)
def test_where_nothing_is_to_be_changed_nothing_is_ordered(prompt: str, order: bool) -> None:
    assert (classify(read_prompt(prompt).tokens).task_type in CODE_TASKS) is order


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("fix main.py, don't touch util.py", {"util.py"}),
        ("fix main.py and leave `pkg/util.py` alone", {"pkg/util.py"}),
        ("fix main.py without touching util.py and data.py", {"util.py", "data.py"}),
        ("fix main.py; util.py must not be changed, nor the tests", {"util.py"}),
        ("fix main.py, don't touch the tests", set()),
        ("fix main.py, don't touch parse()", None),
        ("fix main.py without changing the signature of f in util.py", None),
        ("fix main.py, don't touch util.py or anything in pkg", None),
        ("behebe main.py, aber ändere util.py nicht", None),
    ],
)
def test_which_files_are_to_stay(prompt: str, kept: set[str] | None) -> None:
    assert kept_files(prompt) == kept
