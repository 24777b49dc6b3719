"""Commands on what was changed, by a run or in git: `undo`, `diff`, `commit`, `bisect`. `actions` does the work."""

import os
from pathlib import Path
from typing import Annotated

import typer

from codur.cli import actions, options
from codur.errors import UsageError


def undo(
    run: options.RunId = None,
    directory: options.Directory = Path(),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    redo: Annotated[
        bool,
        typer.Option("--redo", help="Take the last undo back; of a run that failed, the furthest attempt."),
    ] = False,
    json: options.Json = False,
) -> int:
    """Put back what a run changed."""
    return actions.undo.undo_run(run, directory, dry=dry_run, again=redo, json=json)


def diff(run: options.RunId = None, directory: options.Directory = Path(), json: options.Json = False) -> None:
    """Show what a run changed."""
    actions.undo.show_diff(run, directory, json=json)


def commit(
    runs: options.RunIds = None,
    directory: options.Directory = Path(),
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also what else is changed of the files that git has.")
    ] = False,
    staged: Annotated[bool, typer.Option("--staged", help="What is staged, and nothing else.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="FILE", help="Only this file; may be given again.")
    ] = None,
    message: Annotated[
        str | None, typer.Option("--message", "-m", metavar="TEXT", help="Commit message, in place of the one made.")
    ] = None,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Let no hook of the repository see it.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the message and the files.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no model for a message.")] = False,
    amend: Annotated[
        bool, typer.Option("--amend", help="Into the last commit, if Codur made it and nobody else has it.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last one, if Codur made it; files stay.")] = False,
    reword: Annotated[
        str | None,
        typer.Option("--reword", metavar="TEXT", help="Give the last commit this message, if Codur made it."),
    ] = None,
    init: Annotated[bool, typer.Option("--init", help="Begin a git repository, with the files there.")] = False,
    json: options.Json = False,
) -> int:
    """Commit to git what runs changed and left uncommitted, and nothing else."""
    if amend and dry_run:
        raise UsageError("--amend and --dry-run cannot be given together", remedy="Leave one of the two out.")
    if reword is not None:
        if runs or everything or staged or only or amend or undo or init or dry_run or message is not None:
            raise UsageError("--reword changes the last commit's message alone", remedy="Say --reword TEXT alone.")
        return actions.commit.reword(directory, reword, json=json)
    if init:
        if runs or everything or staged or only or amend or undo or dry_run:
            raise UsageError("--init begins a repository with all files", remedy="Say --init alone, or with -m TEXT.")
        return actions.commit.begin(directory, message, json=json)
    if undo:
        if runs or everything or staged or only or amend or message is not None:
            raise UsageError("--undo takes the last commit back, whatever is in it", remedy="Say --undo alone.")
        return actions.commit.take_back_last(directory, dry=dry_run, json=json)
    if staged and (runs or everything or only):
        raise UsageError("--staged commits what is staged and nothing else", remedy="Leave RUN, --all and --only out.")
    wish = actions.commit.Wish(
        only=tuple(map(os.path.normpath, only or ())),
        message=message,
        hooks=not no_verify,
        dry=dry_run,
        everything=everything or bool(only),
        staged=staged,
        offline=offline,
        amend=amend,
    )
    return actions.commit.commit_runs(runs or (), directory, wish, json=json)


def bisect(
    directory: options.Directory = Path(),
    good: Annotated[
        str | None,
        typer.Option("--good", metavar="REV", help="A commit at which the check passes; else one is sought."),
    ] = None,
    bad: Annotated[
        str | None, typer.Option("--bad", metavar="REV", help="A commit at which it fails; by default the last one.")
    ] = None,
    check: options.CheckCommand = None,
    expect: options.ExpectFile = None,
    timeout: options.Timeout = None,
    config: options.ConfigFile = None,
    json: options.Json = False,
    no_sandbox: options.NoSandbox = False,
) -> int:
    """Find the commit since which the check fails."""
    return actions.bisect.find_commit(
        directory,
        actions.Wanted(
            good=actions.run.read_revision("--good", good),
            bad=actions.run.read_revision("--bad", bad),
            check_command=options.read_check(check),
            expect_file=expect,
        ),
        config=config,
        overrides=options.overrides(no_sandbox=no_sandbox, max_runtime_s=timeout),
        json=json,
    )
