"""Models: who can be asked, what it costs, and what happens when a service does not answer."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.llm import exchange, gate, request_retry, sizing

__all__ = ["exchange", "gate", "request_retry", "sizing"]
__getattr__ = parts_of(__name__)
