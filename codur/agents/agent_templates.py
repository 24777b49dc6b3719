"""Declarations to begin with, for `codur agents new`."""

from __future__ import annotations

_HEAD = (
    "# The agent {name}. `codur agents show {name}` tells how it is understood, `codur agents test {name}` tries it.\n"
)

TEMPLATES = {
    "cli": """\
type: cli
description: Another program that edits files in its working directory.
# The program and its words. Places: {{prompt}}, {{prompt_file}}, {{workspace}} (the copy it works in), {{model}},
# {{permissions}}, {{model_option}}. Braces that are no place are doubled.
command: [{name}, --print, "{{permissions}}", "{{model_option}}"]
# Flags with which it never asks; the first when Codur's sandbox contains it, the second when nothing does.
permissions: []
permissions_uncontained: []
# Put in at {{model_option}} if a model is set.
model: null
model_option: [--model, "{{model}}"]
# argument (at {{prompt}}), stdin, or file (its path at {{prompt_file}}).
prompt_by: stdin
# text, json or jsonl; for the last two, `answer` says where text and usage lie, or `dialect` whose events they are.
output: text
# answer: {{text: result, error: error.message, prompt_tokens: usage.input, completion_tokens: usage.output}}
# Variables that reach it: its key (one of them must be set), and others. No other key ever does.
key_env: []
environment: []
# It reaches the network only if you say so; most programs that ask a model need it.
network: false
timeout_s: 600
# Files that it leaves behind and that are not wanted, as globs.
leaves: []
""",
    "llm": """\
type: llm
description: Answers questions about the files of a workspace.
# A profile of llm.profiles; null is llm.default_profile.
profile: null
# The name of a prompt in config/prompts, or the system prompt itself.
prompt: explaining
# The tools it may call; those that write make it an agent that edits.
tools: [read_file, list_files, grep_files, python_ast_outline]
max_steps: 5
""",
    "coding": """\
type: coding
description: Edits the files in question in one answer; the check decides.
# A profile of llm.profiles; null is llm.default_profile.
profile: null
prompt: coding
tools: [replace_function, replace_class, replace_method, replace_file_content, inject_function, replace_in_file]
""",
    "python": """\
type: python
description: A class of an installed package.
# Its name in the package's entry point group codur.agents; empty is this agent's own name. The class has a method
# work(job), as codur/agents/external/protocol.py describes it, and runs inside Codur's own process.
entry_point: ""
timeout_s: 600
""",
}
"""By type; `str.format` fills in the name."""


def template(name: str, kind: str) -> str:
    """The text of a new agent's file."""
    return (_HEAD + TEMPLATES[kind]).format(name=name)
