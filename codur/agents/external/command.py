"""From a declared command to the words that are executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codur.config.reading.agent_rules import PLACE, WORD_LISTS
from codur.config.settings import AgentConfig


def words_of(config: AgentConfig, places: Mapping[str, str], *, contained: bool) -> tuple[str, ...]:
    """The program and its words with every place filled; what is put in is not looked at for places again.

    Args:
        places: texts for {prompt}, {prompt_file}, {workspace} and {model}.
        contained: whether Codur's sandbox contains the program.
    """
    lists: dict[str, Sequence[str]] = {
        "permissions": config.permissions if contained else config.permissions_uncontained,
        "model_option": config.model_option if config.model else (),
    }
    words: list[str] = []
    for word in config.command:
        name = word[1:-1] if word.startswith("{") and word.endswith("}") else ""
        given = lists[name] if name in WORD_LISTS else (word,)
        words += [_filled(item, places) for item in given]
    return tuple(words)


def _filled(word: str, places: Mapping[str, str]) -> str:
    return PLACE.sub(lambda found: places[found[1]] if found[1] else found[0][0], word)
