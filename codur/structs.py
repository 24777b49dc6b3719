"""How Codur defines data: `Struct`, and what is done with the values of one.

msgspec defines a class about ten times faster than `dataclasses` does, and a start defines hundreds. It also turns
values into plain JSON types, and reads them from these with a check of every type: `to_builtins`, `convert`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, dataclass_transform

import msgspec
from msgspec import StructMeta, field

from codur.lazy import late

__all__ = ("Struct", "convert", "field", "is_data", "names", "replace")


@dataclass_transform()
class StructType(StructMeta):
    """What makes them."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **options: Any) -> StructType:
        return super().__new__(cls, name, bases, namespace, **{"frozen": True, "kw_only": True, **options})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Struct(msgspec.Struct, metaclass=StructType):
    """A class of data; its fields are given by keyword and never change, but for `kw_only=False`, `frozen=False`."""


dataclasses = late("dataclasses")  # a settled request has none, and its `inspect` is a fourteenth of a start
_building = threading.RLock()
_built: set[Any] = set()

if TYPE_CHECKING:
    from dataclasses import replace  # the type checker knows the names and types of changes by this one

    from msgspec import convert
else:

    def convert(
        value: Any, kind: Any, *, strict: bool = True, dec_hook: Callable[[type, Any], Any] | None = None
    ) -> Any:
        """As `msgspec.convert`, for what others wrote: it may hold text that UTF-8 cannot. Several threads may.

        Raises:
            ValidationError: it is no value of that kind.
        """
        try:
            if kind in _built:
                return msgspec.convert(value, kind, strict=strict, dec_hook=dec_hook)
            # Two threads that use a kind for the first time at once end the process: msgspec (0.22) describes it then.
            with _building:
                try:
                    return msgspec.convert(value, kind, strict=strict, dec_hook=dec_hook)
                finally:
                    _built.add(kind)
        except UnicodeEncodeError as error:  # msgspec (0.22) looks for keys and words as UTF-8
            raise msgspec.ValidationError("A key or a word that UTF-8 cannot hold") from error

    def replace(value: Any, /, **changes: Any) -> Any:
        """The value with other contents in some fields."""
        change = msgspec.structs.replace if isinstance(value, msgspec.Struct) else dataclasses.replace
        return change(value, **changes)


def is_data(value: Any) -> bool:
    """Whether it is a class of data, a struct or a dataclass, or a value of one."""
    return hasattr(value, "__struct_fields__") or hasattr(value, "__dataclass_fields__")


def names(data: Any) -> tuple[str, ...]:
    """The names of the fields of such a class, or of its value."""
    if hasattr(data, "__struct_fields__"):
        return tuple(data.__struct_fields__)
    return tuple(item.name for item in dataclasses.fields(data))
