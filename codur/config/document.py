"""The settings as people and editors read them: the effective ones, and the JSON schema of a settings file.

Imports PyYAML; import this module only where one of them is asked for.
"""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import NODEFAULT, structs

from codur.config import settings
from codur.config.reading import setting_types
from codur.config.reading.yaml_source import yaml_text
from codur.config.settings import Settings

HIDDEN = "***"


def effective_yaml(effective: Settings) -> str:
    """All settings as YAML that `--config` reads.

    Keys of services are not part of the settings, only the names of their variables are. The arguments and paths of
    MCP servers are hidden, because they may hold secrets.
    """
    values = plain(effective)
    for server in values["mcp_servers"].values():
        server["command"] = [*server["command"][:1], *(HIDDEN for _ in server["command"][1:])]
        if server["url"] is not None:
            scheme, _, rest = server["url"].partition("://")
            host, slash, _ = rest.partition("/")
            server["url"] = f"{scheme}://{host}{slash}{HIDDEN if slash else ''}"
    return yaml_text(values, flow=False, width=10_000)


def schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a settings file.

    No key is required: a file may change one key of an entry that the defaults hold.
    """
    _, definitions = msgspec.json.schema_components([Settings])
    for name, section in definitions.items():
        del section["required"]
        for item in structs.fields(getattr(settings, name)):
            key = section["properties"][item.name]
            key["description"] = meanings()[f"{name}.{item.name}"]
            key.pop("default", None)
            if not (item.required or setting_types.is_section(item.type)):
                key["default"] = plain(default(item))
    root = definitions.pop("Settings")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, "$defs": definitions}


def plain(value: Any) -> Any:
    """The value in the types of JSON, with lists for tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))


def default(item: structs.FieldInfo) -> Any:
    """The default of a section's key."""
    return item.default if item.default_factory is NODEFAULT else item.default_factory()


@cache
def meanings() -> Mapping[str, str]:
    """One line each, by `Class` and `Class.field`."""
    found = {}
    for node in ast.parse(inspect.getsource(settings)).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = _one_line(ast.get_docstring(node) or "")
            found.update(_fields(node))
    return found


def _fields(node: ast.ClassDef) -> Mapping[str, str]:
    found = {}
    for item, after in zip(node.body, node.body[1:], strict=False):
        match item, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[f"{node.name}.{name}"] = _one_line(text)
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())
