"""Reads `action.yml` and carries out its shell steps as the runner does: so much of the runner as this action needs.

From the documentation of GitHub Actions: a step with `shell: bash` is a file that bash runs with `--noprofile --norc
-eo pipefail`; expressions `${{ … }}` are replaced before; what a step appends to the file that `GITHUB_OUTPUT` names
are its outputs; a step whose `if` is false is left out.
"""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


@dataclass
class Runner:
    """One call of the action.

    Args:
        place: a directory for files of the runner.
        repository: where steps run.
        given: the inputs.
        contexts: values of contexts by name, such as `github.run_id`.
    """

    place: Path
    repository: Path
    given: Mapping[str, str]
    contexts: Mapping[str, str]
    environ: Mapping[str, str]
    not_run: list[str] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.summary = self.place / "summary"
        self.summary.touch()

    def run(self) -> None:
        """Carry out the steps; those that call another action or `gh` are noted by name and not run.

        Raises:
            CalledProcessError: a step fails.
        """
        for step in self.action["runs"]["steps"]:
            if not self.holds(str(step.get("if", "true"))):
                continue
            if "uses" in step or step["run"].startswith("gh "):
                self.not_run.append(step["name"])
            else:
                self._step(step)

    def _step(self, step: Mapping[str, Any]) -> None:
        script, output = self.place / "step.sh", self.place / "output"
        script.write_text(self.filled(step["run"]))
        output.write_text("")
        variables = {name: self.filled(value) for name, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary)}
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.repository / self.filled(step.get("working-directory", ".")),
            env={**self.environ, **variables, **files},
            check=True,
            capture_output=True,
            text=True,
        )
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[f"steps.{step.get('id', '')}.outputs.{name}"] = value

    def filled(self, text: str) -> str:
        """The text with its expressions replaced."""
        return _EXPRESSION.sub(lambda match: self._value(match[1]), text)

    def holds(self, condition: str) -> bool:
        """Whether a condition of comparisons and `&&` holds."""
        return all(self._is_true(part.strip()) for part in condition.split("&&"))

    def _is_true(self, part: str) -> bool:
        if part in ("true", "always()"):
            return True
        left, sign, right = part.split()
        assert sign in ("==", "!="), part
        return (self._value(left) == self._value(right)) == (sign == "==")

    def _value(self, expression: str) -> str:
        for name in expression.split(" || "):
            if value := self._named(name):
                return value
        return ""

    def _named(self, name: str) -> str:
        if name.startswith("'"):
            return name.strip("'")
        context, _, rest = name.partition(".")
        if context == "inputs":
            return self.given.get(rest, self.filled(str(self.action["inputs"][rest]["default"])))
        if context == "steps":
            return self.outputs.get(name, "")
        return self.contexts.get(name, "")
