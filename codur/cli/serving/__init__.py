"""Codur for other programs: a server of the Model Context Protocol, an agent of the Agent Client Protocol.

Both are thin: what is asked for becomes a job of `codur.api`.
"""

from pathlib import Path

from codur import cli
from codur.errors import UsageError
from codur.lazy import late

asyncio = late("asyncio")


def serve_mcp(directory: Path, http: int | None) -> int:
    """Serve other programs, over standard input and output or HTTP, until they go or the process is stopped.

    Raises:
        UsageError: a package is not installed, or the port is taken.
    """
    try:
        from codur.cli.serving import mcp_server  # noqa: PLC0415 - lazy: an extra that may not be installed
    except ImportError as error:
        raise _missing("mcp") from error
    offered = mcp_server.Offered(cli.machine.existing(directory), cli.machine.host().environ)
    try:
        mcp_server.over_pipes(offered) if http is None else mcp_server.over_http(offered, http)
    except OSError as error:
        raise UsageError(f"port {http}: {error.strerror}", remedy="Give another port to --http.") from error
    return 0


def serve_acp() -> int:
    """Serve an editor over standard input and output until it closes them.

    Raises:
        UsageError: a package is not installed.
    """
    try:
        from codur.cli.serving import acp_agent  # noqa: PLC0415 - lazy: an extra that may not be installed
    except ImportError as error:
        raise _missing("acp") from error
    asyncio.run(acp_agent.serve(cli.machine.host().environ))
    return 0


def _missing(extra: str) -> UsageError:
    remedy = f'Install it: pip install "codur[{extra}]".'
    return UsageError("to serve this protocol needs a package that is not installed", remedy=remedy)
