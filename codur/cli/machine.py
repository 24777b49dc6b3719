"""What the command line takes from the machine: environment, home, terminal. Nothing below `cli` reads these."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur.config.loader import LoadedSettings, UserSources, load_settings
from codur.config.project_rules import TrustOf, TrustState
from codur.errors import UsageError
from codur.lazy import late
from codur.session.host import Host, close_to_others, host_of, state_of
from codur.store.directory import StateDirectory
from codur.store.run_records import RunStore
from codur.store.trusted_files import TrustStore
from codur.structs import Struct, replace
from codur.ui.output_formats import Output, OutputKind, choose_kind, make_output

if TYPE_CHECKING:
    from codur.checks.memory import CheckMemory
    from codur.cli.typed_line import TypedLine

shutil = late("shutil")

_OF_GRAPHS = ("LANGCHAIN_", "LANGGRAPH_", "LANGSMITH_")
STATE_REMEDY = "Set XDG_STATE_HOME to a directory of your own."


def host() -> Host:
    """What the machine gives a run. From here on, no other program of the user may look into this process."""
    close_to_others()
    found = replace(host_of(os.environ, home()), own_process=True)
    for name in [name for name in os.environ if name.startswith(_OF_GRAPHS)]:
        del os.environ[name]  # it is set for graphs that the user writes, and some would send ours elsewhere
    return found


def state_directory() -> Path | None:
    """Where runs are kept; None if that is not known."""
    return state_of(os.environ, home())


def kept_state() -> StateDirectory:
    """What is kept between runs. Raises UsageError: it is not known where."""
    root = state_directory()
    if root is None:
        raise UsageError("no home directory is known, so nothing is kept", remedy=STATE_REMEDY)
    return StateDirectory(root)


def kept_runs() -> RunStore:
    """The runs that are kept; see `kept_state`."""
    return RunStore(kept_state())


def home() -> Path:
    """The user's home directory; the root directory (refused as a workspace anyway) if there is none.

    A relative `HOME` names another directory in each place, so it counts as none, as one that may not be entered does.
    One that is not there is made when it is needed, but not the way to it (`/nonexistent/x`, as images name it).
    """
    named = Path(os.path.expanduser("~"))  # noqa: PTH111 - a Path refuses where there is none
    usable = os.path.lexists(named) or os.path.isdir(named.parent)  # noqa: PTH112 - a Path may raise
    return named if named.is_absolute() and usable and not home_is_closed() else Path("/")


def home_is_closed() -> bool:
    """Whether there is a home directory that may not be entered: nobody knows what settings are there."""
    named = os.path.expanduser("~")  # noqa: PTH111
    return os.path.lexists(named) and not os.access(named, os.X_OK)


def existing(directory: Path) -> Path:
    """The directory, if there is one. Raises UsageError: there is none."""
    if not directory.is_dir():
        raise UsageError(f"there is no directory {directory}", remedy="Name one that exists after -C.")
    return directory


def settings_for(
    workspace: Path | None,
    config_file: Path | None,
    overrides: Mapping[str, Any],
    *,
    trust_of: TrustOf | None = None,
    agents: Collection[str] = (),
) -> LoadedSettings:
    """The settings of all sources; the trust in a project's file is that of the user's list, unless it is given.

    Args:
        agents: names of shipped agents that are wanted, beside those that the sources name.

    Raises:
        ConfigError: one of them is wrong.
    """
    user = UserSources(environ=os.environ, home=home(), config_file=config_file)
    return load_settings(workspace, user, overrides, trust_of=trust_of or _trust_of, agents=agents)


def trust_store() -> TrustStore:
    """The list of accepted projects; see `kept_state`."""
    return TrustStore(kept_state().trust_file)


def _trust_of(workspace: Path, name: str, content: bytes) -> TrustState:
    return trust_store().state_of(workspace, name, content) if state_directory() else "unknown"


class Showing(Struct):
    """How a run is to be shown, as the options say."""

    json: bool = False
    json_stream: bool = False
    raw: bool = False
    verbose: bool = False
    explain_route: bool = False
    memory: CheckMemory | None = None  # what the last run of the check told, where another task follows
    typed: TypedLine | None = None  # what reads what is typed while the run works; None: nothing does

    @property
    def is_for_people(self) -> bool:
        """Whether somebody reads what is told beside the result."""
        return self.kind in ("rich", "plain") and sys.stderr.isatty()

    @property
    def kind(self) -> OutputKind:
        """The output that fits the options and the terminal."""
        flags = {"json": self.json, "json_stream": self.json_stream, "raw": self.raw}
        return choose_kind(stdout_is_tty=sys.stdout.isatty(), environ=os.environ, **flags)

    def output(self) -> Output:
        """Where events and the result go."""
        return make_output(self.kind, stdout=sys.stdout, stderr=sys.stderr, verbose=self.verbose, typing=self.typed)

    def shows_words(self) -> bool:
        """Whether answers are shown while they come."""
        return self.kind == "json_stream" or (self.kind == "rich" and sys.stderr.isatty())


def table_width() -> int:
    """Columns that tables are folded to, in colours; 0 where neither is wanted: see `choose_kind`."""
    return width() if Showing().kind == "rich" else 0


def width() -> int:
    """Columns of the terminal; 100 where there is none."""
    columns: int = shutil.get_terminal_size((100, 24)).columns
    return columns
