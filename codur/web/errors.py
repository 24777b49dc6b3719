"""Why a page was not read."""

from __future__ import annotations

from codur.errors import CodurError, Refused


class FetchRefused(Refused):
    """The guard does not allow this request; nothing was sent to the refused place."""


class FetchFailed(CodurError):
    """The request was allowed and sent, and no usable answer came."""
