"""Commands that show and run nothing: `route`, `graph`, `tools`, `config`.

Only what they take is declared here; `actions` does the work and is loaded when one of them is called, so that
`codur --help` needs none of it.
"""

from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options

config_app = options.group()


def route(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help="The task; `-` reads standard input.")
    ] = None,
    directory: options.Directory = Path(),
    file: options.PromptFile = None,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
) -> None:
    """Show what is decided about a task without a model; nothing is carried out."""
    task = actions.Task(
        prompt=options.read_prompt(prompt, file),
        workspace=str(directory),
        check_command=options.read_check(check),
        expect_file=expect,
    )
    actions.inspect.show_route(task, directory, config, json=json)


def graph(
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print it as a Mermaid diagram.")] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw it into an SVG file.")] = None,
) -> None:
    """Show the graph that every run takes."""
    actions.inspect.show_graph(mermaid=mermaid, svg=svg)


def tools(
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="TOOL", help="Tools that can follow TOOL, the best first.", autocompletion=options.tools
        ),
    ] = None,
    task_type: Annotated[
        str | None, typer.Option("--for", metavar="TASK_TYPE", help="Only tools for this kind of task, as search.")
    ] = None,
    learned: Annotated[
        bool, typer.Option("--learned", help="Choices that models made alike in the runs that are kept.")
    ] = False,
    json: options.Json = False,
) -> None:
    """List the tools, and which can follow which."""
    if learned:
        actions.tools.show_learned(json=json)
    else:
        actions.tools.show_tools(after, task_type, json=json)


@config_app.command("show")
def config_show(directory: options.Directory = Path(), config: options.ConfigFile = None) -> None:
    """Print all settings as they are in force, as YAML."""
    actions.inspect.show_settings(directory, config)


@config_app.command("path")
def config_path(directory: options.Directory = Path()) -> None:
    """Print where settings are read from, weakest first, and which of these files are there."""
    actions.inspect.show_settings_files(directory)


@config_app.command("set")
def config_set(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Such as runtime.max_llm_calls.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Text, or YAML: 5, true, [a, b], null.")],
    project: Annotated[
        bool, typer.Option("--project", help="In the project's file, in place of the user's own.")
    ] = False,
    directory: options.Directory = Path(),
    config: options.ConfigFile = None,
) -> None:
    """Set one value in a settings file; comments and order stay."""
    file = actions.setting.file_for(directory, config, project=project)
    actions.setting.set_value(key, value, file, project=project)


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON schema of the settings, for editors."""
    actions.inspect.show_schema()


@config_app.command("check")
def config_check(directory: options.Directory = Path(), config: options.ConfigFile = None) -> None:
    """Check all settings files and variables; says what is wrong, with file, line and key."""
    actions.inspect.check_settings(directory, config)
