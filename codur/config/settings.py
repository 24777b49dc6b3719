"""The settings tree: every key, its type and its default, documented where it is declared.

The tree is made of `msgspec` structs: annotations say what a value must be. `loader` checks against them what files and
variables say; `config/codur.yaml` holds the same keys for people, and a test proves that the two agree.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

AUTO = "auto"
"""Stands for a profile that is chosen when a model is needed."""

ToolCallStyle = Literal["native", "json"]
JsonStyle = Literal["strict", "object", "text"]
AgentType = Literal["llm", "coding", "cli", "mcp", "python"]
Dialect = Literal["plain", "codex", "claude", "gemini", "opencode"]

ROUTING_KINDS = ("simple", "complex", "multifile", "reasoning")
"""Keys of `agents.preferences.routing` beside the task types; see `agents.registry`."""

EXTERNAL_TYPES: frozenset[AgentType] = frozenset({"cli", "mcp", "python"})
"""Agents that work in a copy of the workspace, out of Codur's hands."""

Count = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]
TimeBudget = Annotated[float, Meta(ge=0, le=86_400)]

# Patterns are in the part of the language that JSON schema shares. Their descriptions end the sentence "must be …".
_END = r"$(?!\n)"
"""The end of the text; Python's `$` alone also stands before a last line break."""

Variable = Annotated[
    str,  # capitals only, so that a key pasted here by mistake is refused and never shown
    Meta(
        pattern="^[A-Z_][A-Z0-9_]*" + _END,
        description="the name of an environment variable in capitals, never a key",
    ),
]
AnyVariable = Annotated[
    str,
    Meta(
        pattern="^[A-Za-z_][A-Za-z0-9_]*" + _END,
        description="the name of an environment variable, never its value",
    ),
]
Address = Annotated[
    str,
    Meta(
        pattern=r"^https?://[^\s/?#@]+(/[^\s?#@]*)?" + _END,
        description="an http or https address without user name or query",
    ),
]
Pair = Annotated[
    str,
    Meta(
        pattern="^[a-z_]+ > [a-z_]+" + _END,
        description="two tools, the second of which follows the first: find_usages > read_file",
    ),
]


class Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping with fixed keys."""


class Profile(Section, frozen=True, kw_only=True):
    """A model with its settings."""

    provider: str
    """Name of an entry of `providers`."""
    model: str
    """The provider's name of the model."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = 0.2
    """Sampling temperature, 0 to 2; null never sends one, for models that refuse it."""
    context_window: AtLeastOne | None = None
    """Tokens that the model takes, prompt and answer together; null is what its server tells."""
    max_completion_tokens: AtLeastOne = 8000
    """Upper bound of one answer, in tokens (reasoning included); less is asked for where less is to be written."""
    request_tokens: AtLeastOne = 40_000
    """Upper bound of prompt and answer together, in tokens, where neither window nor rate limit allows less."""
    tool_calls: ToolCallStyle = "native"
    """`native` tool calls, or `json` for models that have none."""
    forced_tools: bool = True
    """A tool call may be demanded; false leaves it to the model, where the service refuses such requests."""
    json_mode: JsonStyle = "strict"
    """How structured answers are asked for: `strict` schema, JSON `object` mode, or plain `text`."""
    reasoning_effort: str | None = None
    """Passed on to models that know it (for example `low`, or `none`); null sends nothing."""
    seed: int | None = None
    """Passed on for repeatable sampling; null sends nothing."""
    requests_per_minute: AtLeastOne | None = None
    """Requests a minute at most, where the service does not tell; null is the provider's."""
    tokens_per_minute: AtLeastOne | None = None
    """Tokens a minute at most, longest answers included; null is the provider's."""
    price_in: Amount = 0.0
    """US dollars per million prompt tokens."""
    price_cached: Amount = 0.0
    """US dollars per million cached prompt tokens."""
    price_cache_write: Amount | None = None
    """US dollars per million prompt tokens that are written to the cache; null is `price_in`."""
    price_out: Amount = 0.0
    """US dollars per million completion tokens."""


class Provider(Section, frozen=True, kw_only=True):
    """A service that answers chat requests."""

    api: Literal["groq", "openai", "anthropic"] = "openai"
    """`groq`, `anthropic`, or `openai` for any server that speaks the OpenAI chat protocol."""
    api_key_env: Variable | None = None
    """Name of the environment variable that holds the key; null if none is needed."""
    base_url: Address | None = None
    """Root of the service; null is the provider's own."""
    timeout_s: Seconds = 60.0
    """Time limit of one request, or of one piece of an answer that is streamed, in seconds."""
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    """How an answer's limit is called; `auto` is `max_completion_tokens` for Groq and OpenAI, else `max_tokens`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further HTTP headers, for anybody to read."""
    headers_env: Mapping[str, Variable] = field(default_factory=dict)
    """Names of environment variables by the HTTP header whose secret value they hold."""
    requests_per_minute: AtLeastOne | None = None
    """Requests a minute at most for each model; null is what the service tells."""
    tokens_per_minute: AtLeastOne | None = None
    """Tokens a minute at most for each model, longest answers included; null is what the service tells."""


def _priced(dollars: tuple[float, float, float | None, float], **known: Any) -> Profile:
    """A profile with what a million tokens cost: of the prompt, of it cached, of it written to the cache, answered."""
    price_in, cached, written, out = dollars
    return Profile(price_in=price_in, price_cached=cached, price_cache_write=written, price_out=out, **known)


def _default_profiles() -> dict[str, Profile]:
    groq: dict[str, Any] = {"provider": "groq", "context_window": 131_072, "reasoning_effort": "low"}
    # OpenAI's chat protocol takes tools with these models only if they do not reason, and a temperature likewise.
    # Prices: developers.openai.com/api/docs/pricing of 2026-09-22, for prompts up to 272,000 tokens, as others
    # quote it; the page itself was not at hand.
    gpt: dict[str, Any] = {"provider": "openai", "reasoning_effort": "none"}
    # These models refuse a temperature, and all but the smallest a demand for a tool call; what they think counts
    # towards the limit of the answer. Prices: platform.claude.com/docs/en/models of 2026-10, cached prompts as
    # others quote it of 2026-10-24; the smallest costs more for prompts of more than 100,000 tokens.
    claude: dict[str, Any] = {"provider": "anthropic", "temperature": None, "forced_tools": False}
    return {
        "gpt-oss-120b": _priced((0.15, 0.075, None, 0.60), model="openai/gpt-oss-120b", **groq),
        "gpt-oss-20b": _priced((0.075, 0.0375, None, 0.30), model="openai/gpt-oss-20b", **groq),
        "local": Profile(provider="ollama", model="gpt-oss:20b", json_mode="object"),
        "gpt-6-sol": _priced((2.00, 0.20, 2.50, 10.00), model="gpt-6-sol", **gpt),
        "gpt-6-luna": _priced((0.10, 0.01, 0.125, 0.50), model="gpt-6-luna", **gpt),
        # What OpenRouter takes for a model depends on where it sends the request; so no price is known here.
        "openrouter": Profile(provider="openrouter", model="openai/gpt-oss-120b"),
        "claude-sonnet": _priced(
            (2.00, 0.10, 2.50, 10.00), model="claude-sonnet-5-5", reasoning_effort="low", **claude
        ),
        "claude-haiku": _priced((0.10, 0.01, 0.125, 0.50), model="claude-haiku-5-5", reasoning_effort="low", **claude),
    }


def _default_providers() -> dict[str, Provider]:
    return {
        "groq": Provider(api="groq", api_key_env="GROQ_API_KEY"),
        "ollama": Provider(api="openai", base_url="http://127.0.0.1:11434/v1", timeout_s=300.0),
        "openai": Provider(api="openai", api_key_env="OPENAI_API_KEY", base_url="https://api.openai.com/v1"),
        "openrouter": Provider(
            api="openai",
            api_key_env="OPENROUTER_API_KEY",
            base_url="https://openrouter.ai/api/v1",
            timeout_s=120.0,
            headers={"X-Title": "Codur"},
        ),
        "anthropic": Provider(api="anthropic", api_key_env="ANTHROPIC_API_KEY", timeout_s=180.0),
    }


class LlmSettings(Section, frozen=True, kw_only=True):
    """Which models are used, and for what."""

    default_profile: str = "auto"
    """Profile that plans and codes; `auto`: Groq's if its key is set, else one of a running Ollama, else none."""
    fast_profile: str = "auto"
    """Profile that classifies requests; `auto`: Groq's cheapest if its key is set, else one of a running Ollama."""
    fallback_profiles: tuple[str, ...] = ("gpt-oss-20b",)
    """Profiles tried in this order when the one in use cannot be reached."""
    max_attempts: AtLeastOne = 5
    """Requests sent at most for one answer, the first included, when the service is busy or fails."""
    retry_budget_s: TimeBudget = 120.0
    """Longest total wait between those requests, in seconds."""
    stream: bool = True
    """Show answers in words as they come, on a terminal and in the JSON event stream."""
    profiles: Mapping[str, Profile] = field(default_factory=_default_profiles)
    """Profiles by name."""


class AgentConfig(Section, frozen=True, kw_only=True):
    """An agent: a profile with instructions, tools and limits, or another program that does the work."""

    type: AgentType = "llm"
    """`coding` edits in one answer, `llm` calls tools in a loop; others run a command (`cli`), MCP tool or class."""
    description: str = ""
    """One line for people and for the planning model."""
    profile: str | None = None
    """Profile of a `coding` or `llm` agent; null is `llm.default_profile`."""
    prompt: str = ""
    """Name of a prompt in `config/prompts`, or the system prompt itself, written out."""
    tools: tuple[str, ...] = ()
    """Tools it may call; those of an MCP server are named mcp__SERVER__TOOL."""
    max_steps: AtLeastOne = 5
    """Model calls of one delegation."""
    command: tuple[str, ...] = ()
    """A `cli` agent's program and its words, in which {prompt}, {workspace} and other places are filled."""
    permissions: tuple[str, ...] = ()
    """Words put in at {permissions} when Codur's sandbox contains the program."""
    permissions_uncontained: tuple[str, ...] = ()
    """Words put in at {permissions} when nothing contains it; the program's own sandbox is all there is then."""
    model: str | None = None
    """Model of a `cli` agent, put in at {model}; null leaves the choice to the program."""
    model_option: tuple[str, ...] = ()
    """Words put in at {model_option} if `model` is set, such as [--model, "{model}"]."""
    prompt_by: Literal["argument", "stdin", "file"] = "argument"
    """How the prompt gets in: at {prompt}, on standard input, or in a file named at {prompt_file}."""
    output: Literal["text", "json", "jsonl"] = "text"
    """What the program prints."""
    dialect: Dialect = "plain"
    """Whose events or object that is; `plain` is told by `answer`."""
    answer: Mapping[str, str] = field(default_factory=dict)
    """Dotted paths in `plain` JSON of: text, error, prompt_tokens, cached_tokens, completion_tokens, cost_usd."""
    key_env: tuple[AnyVariable, ...] = ()
    """Variables with its key, passed on; one of them must be set. Empty: it needs none."""
    environment: tuple[AnyVariable, ...] = ()
    """Further variables that it gets; no others reach it but a minimal set."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables set for it to these texts; no place for secrets."""
    leaves: tuple[str, ...] = ()
    """Globs of what it leaves behind in its directory (histories, caches), which is not taken over."""
    readable: tuple[str, ...] = ()
    """Paths that it may read beside the system's, its own installation and the copy it works on; `~/` is your home."""
    network: bool = False
    """It may reach the network, and what listens on this machine."""
    timeout_s: Seconds = 600.0
    """Time limit of one delegation, in seconds."""
    price_in: Amount = 0.0
    """US dollars per million prompt tokens, if the program does not tell what it cost."""
    price_cached: Amount = 0.0
    """US dollars per million cached prompt tokens, likewise."""
    price_out: Amount = 0.0
    """US dollars per million completion tokens, likewise."""
    server: str = ""
    """An `mcp` agent's server, of `mcp_servers`."""
    tool: str = ""
    """The tool of that server that does the work."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Its arguments; texts may have the places {prompt} and {workspace}."""
    entry_point: str = ""
    """A `python` agent's name in the entry point group `codur.agents`; empty is the agent's own name."""


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


class AgentPreferences(Section, frozen=True, kw_only=True):
    """Which agent gets which work."""

    default_agent: str = "agent:codur-coding"
    """Agent for code tasks: `agent:NAME`, `llm:PROFILE` or a plain name of `agents.configs`."""
    routing: Mapping[str, str] = field(default_factory=lambda: {"explanation": "agent:codur-explaining"})
    """Agent by task type, or by `simple`, `complex`, `multifile` or `reasoning`; all others go to `default_agent`."""
    fallback_order: tuple[str, ...] = ()
    """Agents that stand in, in this order, when one cannot run."""
    escalation: tuple[str, ...] = ()
    """Agents that take over, in this order, when one makes no progress; each gets one turn."""
    escalation_start: Literal["best", "clean"] = "best"
    """What an agent that takes over starts from: the `best` attempt so far, or the `clean` workspace."""
    patience: AtLeastOne = 3
    """Attempts in a row without progress that an agent is given; one more if it has made none and fails in new ways."""


class AgentInstructions(Section, frozen=True, kw_only=True):
    """Instructions for some agents; `text` or `file` or both."""

    agents: str = "*"
    """Glob pattern of an agent's name, its profile's (`llm:PROFILE` too) or its model's."""
    text: str = ""
    """The instructions, written out."""
    file: str | None = None
    """A file with instructions, absolute, with `~/`, or relative to the directory of the user's settings."""


class CodingSettings(Section, frozen=True, kw_only=True):
    """How agents of type `coding` work."""

    max_looks: Count = 4
    """Answers of one step that may look at more of the workspace, before the one with the edits; 0: none."""
    samples: Annotated[int, Meta(ge=1, le=64)] | Literal["auto"] = 1
    """Answers asked for side by side where a check is red; `auto`: 1, after a failure up to 4 that need not wait."""
    sample_profiles: tuple[str, ...] = ()
    """Profiles that they come from in turn; empty: the agent's own, at different temperatures."""


class AgentSettings(Section, frozen=True, kw_only=True):
    """Agents and who is preferred."""

    preferences: AgentPreferences = AgentPreferences()
    """Which agent gets which work."""
    configs: Mapping[str, AgentConfig] = field(default_factory=_default_agents)
    """Agents by name."""
    coding: CodingSettings = CodingSettings()
    """How agents of type `coding` work."""
    model_agent_instructions: tuple[AgentInstructions, ...] = ()
    """Instructions added to the system prompts of the agents that match."""


class RuntimeSettings(Section, frozen=True, kw_only=True):
    """Hard limits of one run."""

    max_iterations: Count = 10
    """Attempts at most."""
    max_llm_calls: Count = 20
    """Model calls at most."""
    max_tokens: Count = 200_000
    """Prompt and completion tokens at most, all calls together."""
    max_cost_usd: Amount = 1.0
    """US dollars at most, by the profiles' prices."""
    max_runtime_s: TimeBudget = 900.0
    """Wall time at most, in seconds."""
    detect_tool_calls_from_text: bool = True
    """Read edits that a model wrote as text instead of calling a tool; no more is read so where it can call tools."""
    debug_log: bool = False
    """`codur solve` keeps a codur_debug.log with each challenge's results: all that happened, and the requests."""


class PlanningSettings(Section, frozen=True, kw_only=True):
    """How a run decides what to do."""

    use_llm_pre_plan: bool = True
    """Classify with one small call before planning."""
    max_retry_attempts: AtLeastOne = 3
    """Requests for one decision at most, when answers cannot be read."""
    confidence_threshold: Share = 0.8
    """Confidence from which a classification may route without a plan."""
    max_steps: AtLeastOne = 12
    """Steps of a plan at most."""
    replan_edits: bool = False
    """A single edit that failed in two ways is planned anew, once and for one more call, before it is tried again."""
    narrow_tools: bool = True
    """Show models the tools that fit the kind of task and the last result, rather than all."""
    approval: Literal["never", "writes", "always"] = "never"
    """Whether you are asked before a plan is carried out: `never`, before it `writes` files, or `always`."""
    approve: tuple[Literal["write", "run", "network", "git", "delegate"], ...] = ()
    """Kinds of side effects before which you are asked all the same: write, run, network, git, delegate."""


class ContextSettings(Section, frozen=True, kw_only=True):
    """What of the workspace models are shown."""

    project_instructions: bool = True
    """Read the project's AGENTS.md (else CLAUDE.md, else GEMINI.md) once they are accepted with `codur trust`."""
    instruction_tokens: Count = 2_000
    """All instructions in one request, in tokens at most, and never more than an eighth of `request_tokens`."""
    source_tokens: Count = 10_000
    """Source text in one request, in tokens, to which what is useful is added; what is needed may take more."""
    max_files: Count = 3_000
    """Sources looked into to choose them; of more, those near to the files that the task names."""


class VerificationSettings(Section, frozen=True, kw_only=True):
    """How results are checked."""

    command: str | None = None
    """Command that checks the result, as `--check`; null leaves it to Codur to find a check."""
    timeout_s: Seconds = 10.0
    """Time limit of a program under check, in seconds."""
    test_timeout_s: Seconds = 120.0
    """Time limit of a test run, in seconds."""
    max_output_kb: AtLeastOne = 256
    """Output kept of a program, in KiB; what is beyond is cut in the middle."""
    confirm_runs: Count = 1
    """Further runs that a pass must survive before it counts."""
    make_check: Literal["auto", "never"] = "auto"
    """Where nothing fails because of the task, one more call writes a test that does (`auto`), or not (`never`)."""
    answer_s: Seconds = 120.0
    """A test that was made and is shown is used if you say nothing for so long, in seconds."""
    linters: bool = True
    """Say what the project's own linter, formatter and type checker find in changed files that they did not before."""


class RepairSettings(Section, frozen=True, kw_only=True):
    """Offline repair."""

    mode: Literal["before_model", "after_failure", "off"] = "before_model"
    """When a fix is searched for: `before_model` is asked, `after_failure` of a model's attempt, or never (`off`)."""
    budget_s: TimeBudget = 8.0
    """Search time when a model is at hand, in seconds."""
    offline_budget_s: TimeBudget = 60.0
    """Search time when there is none, in seconds."""
    max_order: AtLeastOne = 2
    """Edits combined in one candidate at most."""
    workers: Count = 0
    """Processes that judge candidates side by side; 0 stands for one for each processor."""


class ToolSettings(Section, frozen=True, kw_only=True):
    """What tools may do."""

    allow_write: bool = True
    """Tools may change files of the workspace."""
    allow_run: bool = True
    """Tools and checks may start programs."""
    allow_network: bool = False
    """Tools may reach the network."""
    allow_git_write: bool = False
    """Tools may stage files, commit, switch branches and go on with a merge or rebase; `undo` does not take it back."""
    max_file_kb: AtLeastOne = 1024
    """Largest file that is read or written, in KiB."""
    whole_file_lines: Count = 200
    """A file of up to this many lines may be rewritten whole."""
    max_candidates: AtLeastOne = 10
    """Tools that are offered at most where a few can follow the one before."""
    min_compatibility: Share = 0.5
    """How well a tool must fit what the one before gave, from 0 to 1, to be one of them (`codur tools --after`)."""
    decision_prompt: str = ""
    """What a model is asked where a plan's step has `decide: guided`; empty stands for a question of Codur's own."""
    fallback_tool: str = ""
    """The tool of such a step if the model names none; empty leaves the step to an agent with all of its tools."""
    promote: tuple[Pair, ...] = ()
    """Choices made without a model, as `find_definition > read_file`; `codur tools --learned` offers some."""


class ScopeSettings(Section, frozen=True, kw_only=True):
    """Which files of the workspace may change."""

    allow: tuple[str, ...] = ()
    """Globs of files that may change (`src/**`, `*.py`; a directory means all below it); none stands for all files."""
    deny: tuple[str, ...] = ()
    """Globs of files that must not change, whatever `allow` says."""
    max_files: Count = 0
    """Files that may change at most; 0 is no bound."""


class SandboxSettings(Section, frozen=True, kw_only=True):
    """How the programs that Codur starts (checks, tests, repair candidates) are contained."""

    backend: Literal["auto", "namespaces", "bubblewrap", "landlock", "seatbelt", "none"] = "auto"
    """`auto` takes the best that works here: namespaces, bubblewrap, Landlock, `sandbox-exec` (macOS), else none."""
    require: Literal["any", "strict"] = "any"
    """`strict` starts no program where the back end does not hold all that is promised (`codur doctor --strict`)."""
    memory_mb: Count = 2048
    """Memory of a program with all that it starts, in MiB."""
    processes: Count = 352
    """Processes and threads of a program with all that it starts."""
    file_mb: Count = 256
    """The largest file that a program may write, in MiB."""
    temporary_mb: Count = 256
    """Size of a program's private temporary directory, in MiB, where the back end can bound it."""
    written_mb: Count = 2048
    """What a program may add to the disk, in MiB, in all places where it may write together."""
    new_files: Count = 50_000
    """Files and directories that a program may add there."""


class StateSettings(Section, frozen=True, kw_only=True):
    """What is kept of runs in the state directory, for undo, diff, resume and show."""

    max_mb: Count = 1024
    """Size at which the oldest runs are forgotten, in MiB."""
    max_runs: Count = 500
    """Runs that are remembered at most."""
    command_files: Count = 5000
    """Files copied at most before programs run, so that what programs change can be undone."""
    command_mb: Count = 128
    """Size of these copies at most, in MiB."""


class TelemetrySettings(Section, frozen=True, kw_only=True):
    """What is told of runs to a collector of OpenTelemetry spans (`pip install "codur[otel]"`)."""

    endpoint: Address | None = None
    """Address that gets the spans, by OTLP over HTTP, like `http://127.0.0.1:4318/v1/traces`; null sends nothing."""
    content: bool = False
    """The spans hold prompts and answers too, without secrets."""


class McpServer(Section, frozen=True, kw_only=True):
    """A server of tools, spoken to by the Model Context Protocol: started with `command`, or reached at `url`."""

    command: tuple[str, ...] = ()
    """Program and arguments that start it, contained; it is spoken to over its standard input and output."""
    environment: tuple[Variable, ...] = ()
    """Names of the environment variables that it gets beside the few that every program gets."""
    cwd: str | None = None
    """Absolute path of the directory where it starts (as an agent: that its command is of); null is the workspace."""
    network: bool = False
    """The started program may reach the network (and this machine's own services)."""
    url: Address | None = None
    """Address of a server that runs already, spoken to over streamable HTTP."""
    headers_env: Mapping[str, Variable] = field(default_factory=dict)
    """Names of environment variables by the HTTP header whose value they hold."""
    timeout_s: Seconds = 60.0
    """Time limit of one request, the server's start included, in seconds."""


class Settings(Section, frozen=True, kw_only=True):
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
    context: ContextSettings = ContextSettings()
    """What of the workspace models are shown."""
    verification: VerificationSettings = VerificationSettings()
    """How results are checked."""
    repair: RepairSettings = RepairSettings()
    """Offline repair."""
    tools: ToolSettings = ToolSettings()
    """What tools may do."""
    scope: ScopeSettings = ScopeSettings()
    """Which files of the workspace may change."""
    sandbox: SandboxSettings = SandboxSettings()
    """How programs are contained."""
    state: StateSettings = StateSettings()
    """What is kept of runs."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """What is told of runs to others."""
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict)
    """MCP servers by name."""
