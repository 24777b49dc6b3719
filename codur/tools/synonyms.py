"""Other names for tools' arguments, as models know them from other programs' tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, Final

from codur.lazy import regex

_CODE = "code content contents new_content new_source source_code source implementation text body"

SYNONYMS: Final[Mapping[str, str]] = {
    "after": "after_function insert_after",
    "after_line": "insert_line",
    "all": "replace_all",
    "args": "arguments argv parameters",
    "arguments": "args input parameters params",
    "class_name": "class",
    "command": "cmd command_line shell_command",
    "content": "code contents data file_content file_text new_code new_content new_text text",
    "depth": "max_depth",
    "end_line": "end last_line line_end to_line",
    "function_name": "func func_name function name symbol",
    "glob": "file_pattern glob_pattern include include_pattern",
    "grep_files.pattern": "query search search_pattern search_term string text",
    "ignore_case": "case_insensitive",
    "key": "key_path section",
    "limit": "count head_limit max_count max_matches max_results num_results",
    "line": "line_number lineno",
    "list_files.pattern": "glob glob_pattern",
    "message": "commit_message msg",
    "method_name": "func func_name function function_name method name",
    "name": "class_name function_name identifier old_name symbol symbol_name tool tool_name",
    "new": "new_code new_str new_string new_text replace replacement",
    "new_code": f"{_CODE} class_code file_content file_text function_code method_code",
    "new_name": "new_symbol_name to",
    "old": "find old_code old_str old_string old_text search",
    "options": "choices",
    "patch": "diff input patch_text",
    "path": "absolute_path dir directory file file_name file_path filename filepath folder relative_path target_file",
    "paths": "file file_paths filenames files path",
    "query": "keywords pattern q search search_query text",
    "question": "message prompt text",
    "replace_class.class_name": "name",
    "revision": "commit commit_hash hash ref rev sha",
    "server": "server_name",
    "source": "from from_path old_path source_file source_path src src_path",
    "staged": "cached",
    "start_line": "first_line from_line line_start start",
    "stdin": "input stdin_text",
    "target": "dest destination destination_path dst new_path target_path to to_path",
    "text": "answer message question",
    "tool": "name tool_name",
    "uri": "resource url",
    "url": "address href link uri",
}
"""By the argument, or by the tool and the argument where that of other tools has not the same ones."""
_CAPITAL = regex(r"(?<=[a-z0-9])(?=[A-Z])")


def meant(tool: str, members: Collection[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the tool's own names.

    A synonym stands for an argument that is not given itself; what stands for none, or for one that is given with
    another value, is left as it is.

    Args:
        members: the tool's arguments.
    """
    table = synonyms_of(tool, tuple(members))
    bound: dict[str, Any] = {}
    for name, value in given.items():
        own = name if name in members else table.get(_plain(str(name)), name)
        other = given.get(own, bound.get(own, value)) if own != name else value
        bound[own if other == value else name] = value
    return bound


@cache
def synonyms_of(tool: str, members: tuple[str, ...]) -> Mapping[str, str]:
    """The argument that each synonym stands for."""
    words = {own: f"{own} {SYNONYMS.get(own, '')} {SYNONYMS.get(f'{tool}.{own}', '')}".split() for own in members}
    return {word: own for own, listed in words.items() for word in listed}


def _plain(name: str) -> str:
    """`file_path` for `filePath` and `file-path`."""
    return _CAPITAL.sub("_", name).replace("-", "_").lower()
