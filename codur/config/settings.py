"""The settings tree: every key, its type and its default, documented where it is declared.

The tree is made of plain dataclasses. `loader` validates what files and variables say against it; `config/codur.yaml`
holds the same keys for people, and a test proves that the two agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ToolCallStyle = Literal["native", "json"]
JsonStyle = Literal["strict", "object", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A model with its settings."""

    provider: str
    """Name of an entry of `providers`."""
    model: str
    """The provider's name of the model."""
    temperature: float = 0.2
    """Sampling temperature, 0 to 2."""
    max_completion_tokens: int = 3000
    """Upper bound of one answer, in tokens (reasoning included)."""
    request_tokens: int = 6000
    """Upper bound of prompt and answer together, in tokens; prompts are cut to fit."""
    tool_calls: ToolCallStyle = "native"
    """`native` tool calls, or `json` for models that have none."""
    json_mode: JsonStyle = "strict"
    """How structured answers are asked for: `strict` schema, JSON `object` mode, or plain `text`."""
    reasoning_effort: str | None = None
    """Passed on to models that know it (for example `low`); null sends nothing."""
    seed: int | None = None
    """Passed on for repeatable sampling; null sends nothing."""
    price_in: float = 0.0
    """US dollars per million prompt tokens."""
    price_cached: float = 0.0
    """US dollars per million cached prompt tokens."""
    price_out: float = 0.0
    """US dollars per million completion tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service that answers chat requests."""

    api: Literal["groq", "openai"] = "openai"
    """`groq`, or `openai` for any server that speaks the OpenAI chat protocol."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; null if none is needed."""
    base_url: str | None = None
    """Root of the service; null is the provider's own."""
    timeout_s: float = 60.0
    """Time limit of one request, in seconds."""


def _default_profiles() -> dict[str, Profile]:
    return {
        "gpt-oss-120b": Profile(
            provider="groq",
            model="openai/gpt-oss-120b",
            reasoning_effort="low",
            price_in=0.15,
            price_cached=0.075,
            price_out=0.60,
        ),
        "gpt-oss-20b": Profile(
            provider="groq",
            model="openai/gpt-oss-20b",
            reasoning_effort="low",
            price_in=0.075,
            price_cached=0.0375,
            price_out=0.30,
        ),
        "local": Profile(
            provider="ollama",
            model="gpt-oss:20b",
            json_mode="object",
            request_tokens=12_000,
            max_completion_tokens=4000,
        ),
    }


def _default_providers() -> dict[str, Provider]:
    return {
        "groq": Provider(api="groq", api_key_env="GROQ_API_KEY"),
        "ollama": Provider(api="openai", base_url="http://127.0.0.1:11434/v1", timeout_s=300.0),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """Which models are used, and for what."""

    default_profile: str = "gpt-oss-120b"
    """Profile that plans and codes."""
    fast_profile: str = "gpt-oss-20b"
    """Profile that classifies requests."""
    fallback_profiles: tuple[str, ...] = ("gpt-oss-20b",)
    """Profiles tried in this order when the one in use cannot be reached."""
    max_attempts: int = 5
    """Requests sent at most for one answer, the first included, when the service is busy or fails."""
    retry_budget_s: float = 120.0
    """Longest total wait between those requests, in seconds."""
    profiles: Mapping[str, Profile] = field(default_factory=_default_profiles)
    """Profiles by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """An agent: a profile with instructions, tools and limits."""

    type: Literal["llm", "coding"] = "llm"
    """`coding` edits files in one answer; `llm` works in a bounded loop of tool calls."""
    description: str = ""
    """One line for people and for the planning model."""
    profile: str | None = None
    """Profile it uses; null is `llm.default_profile`."""
    prompt: str = ""
    """Name of a prompt in `config/prompts`, or the system prompt itself, written out."""
    tools: tuple[str, ...] = ()
    """Tools it may call."""
    max_steps: int = 5
    """Model calls of one delegation."""


def _default_agents() -> dict[str, AgentConfig]:
    return {
        "codur-coding": AgentConfig(
            type="coding",
            description="Edits the files in question in one answer; the check decides.",
            prompt="coding",
            tools=(
                "replace_function",
                "replace_class",
                "replace_method",
                "replace_file_content",
                "inject_function",
                "replace_in_file",
            ),
        ),
        "codur-explaining": AgentConfig(
            type="llm",
            description="Reads files and answers questions about them; changes nothing.",
            prompt="explaining",
            tools=("read_file", "list_files", "grep_files", "python_ast_outline"),
        ),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPreferences:
    """Which agent gets which work."""

    default_agent: str = "agent:codur-coding"
    """Agent for code tasks: `agent:NAME`, `llm:PROFILE` or a plain name of `agents.configs`."""
    routing: Mapping[str, str] = field(default_factory=lambda: {"explanation": "agent:codur-explaining"})
    """Agent by task type; what is not named goes to `default_agent`."""
    fallback_order: tuple[str, ...] = ()
    """Agents tried in this order when one makes no progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Agents and who is preferred."""

    preferences: AgentPreferences = AgentPreferences()
    """Which agent gets which work."""
    configs: Mapping[str, AgentConfig] = field(default_factory=_default_agents)
    """Agents by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """Hard limits of one run."""

    max_iterations: int = 10
    """Attempts at most."""
    max_llm_calls: int = 20
    """Model calls at most."""
    max_tokens: int = 200_000
    """Prompt and completion tokens at most, all calls together."""
    max_cost_usd: float = 1.0
    """US dollars at most, by the profiles' prices."""
    max_runtime_s: float = 900.0
    """Wall time at most, in seconds."""
    detect_tool_calls_from_text: bool = True
    """Read tool calls that a model wrote as text instead of calling them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningSettings:
    """How a run decides what to do."""

    use_llm_pre_plan: bool = True
    """Classify with one small call before planning."""
    max_retry_attempts: int = 3
    """Requests for one decision at most, when answers cannot be read."""
    confidence_threshold: float = 0.8
    """Confidence from which a classification may route without a plan."""
    max_steps: int = 12
    """Steps of a plan at most."""
    approval: Literal["never", "writes", "always"] = "never"
    """Whether you are asked before a plan is carried out: `never`, before it `writes` files, or `always`."""
    approve: tuple[Literal["write", "run", "network", "git", "delegate"], ...] = ()
    """Kinds of side effects before which you are asked all the same: write, run, network, git, delegate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationSettings:
    """How results are checked."""

    command: str | None = None
    """Command that checks the result, as `--check`; null leaves it to Codur to find a check."""
    timeout_s: float = 10.0
    """Time limit of a program under check, in seconds."""
    test_timeout_s: float = 120.0
    """Time limit of a test run, in seconds."""
    max_output_kb: int = 256
    """Output kept of a program, in KiB; what is beyond is cut in the middle."""
    confirm_runs: int = 1
    """Further runs that a pass must survive before it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSettings:
    """Offline repair."""

    mode: Literal["before_model", "after_failure", "off"] = "before_model"
    """When a fix is searched for: `before_model` is asked, `after_failure` of a model's attempt, or never (`off`)."""
    budget_s: float = 8.0
    """Search time when a model is at hand, in seconds."""
    offline_budget_s: float = 60.0
    """Search time when there is none, in seconds."""
    max_order: int = 2
    """Edits combined in one candidate at most."""
    workers: int = 0
    """Processes that judge candidates side by side; 0 stands for one for each processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """What tools may do."""

    allow_write: bool = True
    """Tools may change files of the workspace."""
    allow_run: bool = True
    """Tools and checks may start programs."""
    allow_network: bool = False
    """Tools may reach the network."""
    max_file_kb: int = 1024
    """Largest file that is read or written, in KiB."""
    whole_file_lines: int = 200
    """A file of up to this many lines may be rewritten whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """How the programs that Codur starts (checks, tests, repair candidates) are contained."""

    backend: Literal["auto", "bubblewrap", "landlock", "seatbelt", "none"] = "auto"
    """`auto` takes the best that works here: bubblewrap, Landlock with seccomp, `sandbox-exec` (macOS), else none."""
    memory_mb: int = 2048
    """Memory of a program with all that it starts, in MiB."""
    processes: int = 256
    """Processes and threads of a program with all that it starts."""
    file_mb: int = 256
    """The largest file that a program may write, in MiB."""
    temporary_mb: int = 256
    """Size of a program's private temporary directory, in MiB, where the back end can bound it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSettings:
    """What is kept of runs in the state directory, for undo, diff, resume and show."""

    max_mb: int = 1024
    """Size at which the oldest runs are forgotten, in MiB."""
    max_runs: int = 500
    """Runs that are remembered at most."""
    command_files: int = 5000
    """Files copied at most before programs run, so that what programs change can be undone."""
    command_mb: int = 128
    """Size of these copies at most, in MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of Codur."""

    llm: LlmSettings = LlmSettings()
    """Which models are used, and for what."""
    providers: Mapping[str, Provider] = field(default_factory=_default_providers)
    """Services by name."""
    agents: AgentSettings = AgentSettings()
    """Agents and who is preferred."""
    runtime: RuntimeSettings = RuntimeSettings()
    """Hard limits of one run."""
    planning: PlanningSettings = PlanningSettings()
    """How a run decides what to do."""
    verification: VerificationSettings = VerificationSettings()
    """How results are checked."""
    repair: RepairSettings = RepairSettings()
    """Offline repair."""
    tools: ToolSettings = ToolSettings()
    """What tools may do."""
    sandbox: SandboxSettings = SandboxSettings()
    """How programs are contained."""
    state: StateSettings = StateSettings()
    """What is kept of runs."""
    mcp_servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """MCP servers by name; kept for a later version, not used yet."""
