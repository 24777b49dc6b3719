"""Why a page was not read."""

from codur.errors import CodurError, Refused


class FetchRefused(Refused):
    """The guard does not allow this request; nothing was sent to the refused place."""


class FetchFailed(CodurError):
    """The request was allowed and sent, and no usable answer came."""


class FetchTimedOut(FetchFailed):
    """No whole answer came in time."""


class ExtraMissing(CodurError):
    """A library is needed that only comes with the extra `codur[web]`."""

    def __init__(self, work: str) -> None:
        super().__init__(f"{work} needs libraries that are not installed", remedy='Run pip install "codur[web]".')
