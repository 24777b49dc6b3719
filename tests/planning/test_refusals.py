"""Refusals, questions and orders in the languages that prompts are often written in."""

from __future__ import annotations

import pytest

from codur.planning.patterns.classify import classify
from codur.planning.patterns.prompt_tokens import read_prompt
from codur.planning.patterns.refusals import keeps_a_part

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
    "repariere nur die Tests, nicht rechnung.py",
    "nicht reparieren, nur die tests laufen lassen",
    "do not fix rechnung.py, only look",
    "should I fix rechnung.py?",
    "no arregles rechnung.py, solo mira",
    "不要修复 计算.py",
    "先别修复,只看看",
    "直さないで、informe.pyを見て",
    "informe.pyを直してもいいですか？",
    "需要修复 计算.py 吗？",
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
)


def is_fix(prompt: str) -> bool:
    return classify(read_prompt(prompt).tokens).task_type == "code_fix"


@pytest.mark.parametrize("prompt", NONE)
def test_what_forbids_a_repair_or_asks_about_one_is_no_order(prompt: str) -> None:
    assert not is_fix(prompt)


@pytest.mark.parametrize("prompt", PARTLY)
def test_what_has_to_stay_as_it_is_is_seen(prompt: str) -> None:
    assert keeps_a_part(prompt) or not is_fix(prompt)


@pytest.mark.parametrize("prompt", ORDERS)
def test_an_order_is_one_whatever_it_says_of_the_fault_and_of_tests(prompt: str) -> None:
    assert is_fix(prompt)
    assert not keeps_a_part(prompt)
