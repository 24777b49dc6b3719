"""What a session keeps as plain JSON and back: values of `codur.types`, `codur.patches` and `codur.questions`.

No pickle, no guessing.

A struct becomes an object whose `$type` names it, a tuple an object with `$tuple`; keys that begin with `$` get one
more. What is neither plain nor known here is an error when it is written, not when it is needed.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import ValidationError

import codur.patches
import codur.questions
import codur.types
from codur.errors import CodurError
from codur.structs import Struct, convert, names

_TYPES: Final[dict[str, type[Any]]] = {
    name: value
    for module in (codur.types, codur.patches, codur.questions)
    for name, value in vars(module).items()
    if isinstance(value, type) and issubclass(value, Struct) and value is not Struct
}
_TYPE, _TUPLE, _ERROR = "$type", "$tuple", "$error"


class DamagedRecord(CodurError):
    """Something that a session kept cannot be read back."""


def encode(value: Any, redact: Callable[[str], str] = str) -> Any:
    """The value (JSON types, tuples, mappings with text keys, structs of these modules, texts of errors) as JSON types.

    `redact` is applied to every text. Raises TypeError: there is something else in it.
    """
    # `bool` is an `int`; both are plain.
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, tuple):
        return {_TUPLE: [encode(item, redact) for item in value]}
    if isinstance(value, list):
        return [encode(item, redact) for item in value]
    return _encode_object(value, redact)


def decode(value: Any) -> Any:
    """What `encode` was given. Raises DamagedRecord: it names a type or a field that there is not."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _TYPE in value:
        return _made(value)
    if _TUPLE in value:
        return tuple(decode(item) for item in value[_TUPLE])
    if _ERROR in value:
        return CodurError(str(value[_ERROR]))
    return {key.removeprefix("$"): decode(item) for key, item in value.items()}


def _encode_object(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): encode(item, redact) for key, item in value.items()}
    if _TYPES.get(type(value).__name__) is type(value):
        kept = {name: encode(getattr(value, name), redact) for name in names(value)}
        return {_TYPE: type(value).__name__, **kept}
    if isinstance(value, BaseException):
        return {_ERROR: redact(f"{type(value).__name__}: {value}")}
    raise TypeError(f"{type(value).__name__} is not a type that a session keeps")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of type {type(key).__name__} cannot be kept")
    return f"${key}" if key.startswith("$") else key


def _made(value: Mapping[str, Any]) -> Any:
    made = _TYPES.get(value[_TYPE])
    if made is None:
        raise DamagedRecord(f"the record names a type that there is not: {str(value[_TYPE])[:60]!r}")
    # Fields that are missing have defaults, as earlier versions did not write them; one that is unknown is of a later
    # version.
    unknown = value.keys() - names(made) - {_TYPE}
    if unknown:
        raise DamagedRecord(f"the record of a {made.__name__} does not fit: it has {min(unknown)[:60]!r}")
    try:
        return convert({key: decode(item) for key, item in value.items() if key != _TYPE}, made)
    except ValidationError as error:
        raise DamagedRecord(f"the record of a {made.__name__} does not fit: {error}") from error
