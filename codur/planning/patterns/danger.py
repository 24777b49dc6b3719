"""Requests that no rule may act on: shell commands, and what would destroy more than one named file."""

from __future__ import annotations

from collections.abc import Sequence

from codur.planning.patterns.courtesy import without_courtesy
from codur.planning.patterns.phrases import Captures, match
from codur.planning.patterns.prompt_tokens import Token, read_prompt, word_set

_PROGRAMS = word_set(
    "rm mv cp mkdir rmdir cd sudo su chmod chown chgrp ln dd mkfs fdisk shutdown reboot halt poweroff kill"
    " killall pkill curl wget ssh scp rsync nc telnet npm npx yarn pnpm pip pip3 pipx uv poetry conda apt apt-get"
    " brew yum dnf pacman snap docker docker-compose podman kubectl helm terraform ansible bash sh zsh fish sed"
    " awk xargs tar unzip gzip systemctl service crontab source eval exec export unset alias nohup tmux screen vim"
    " vi nano emacs cargo rustc gcc g++ clang cmake mvn gradle javac dotnet psql mysql sqlite3 redis-cli tee env"
    " printenv whoami ps pwd"
)
"""Programs whose names are not English words; a request that begins with one is a command line."""
_ALSO_WORDS = word_set(
    "ls cat head tail find grep echo git python python3 node make go touch tree diff ./run less more"
)
_KNOWN_COMMANDS = word_set("git python python3 grep head find")
"""Commands of which rules know some forms with options."""
_SIGNS = word_set("&& || | > >> < 2>&1 2> &")
_RUN = "[run|execute|do|perform|start|type|call] [the|a|an] [command|shell command|following|following command] [:]"
_ALL = (
    "(everything|all|all [of] [the|my|these|our] [KIND] (files|data|code|folders|directories|branches)|every file"
    "|all of it|it all|the whole thing|my data|my files|these files|the files|files)"
)
_PLACE = (
    "(the|this|my|our|the whole|the entire|this whole|the current|all of the|your)"
    " (repo|repository|project|workspace|folder|directory|codebase|disk|drive|database|system|computer|machine|server"
    "|home directory|filesystem|file system|git history|history)"
)
_DESTROY = "(delete|remove|erase|wipe|destroy|nuke|trash|clear|drop|purge|overwrite|empty|shred|wipe out|get rid of)"
_PHRASES = (
    f"{_DESTROY} {_ALL}",
    f"{_DESTROY} {_ALL} (in|from|on|under|inside|of|here|except|but|now) [ARGS]",
    f"{_DESTROY} {_PLACE}",
    "format (my|the|this|your) (disk|drive|hard drive|hard disk|computer|ssd) [ARGS]",
    f"{_RUN} git reset --hard [ARGS]",
    "[git] [do|make] [a] (hard reset|reset --hard) [ARGS]",
    f"{_RUN} [git] push (--force|-f|--force-with-lease) [ARGS]",
    "git push WORD [WORD] (--force|-f|--force-with-lease)",
    "[git] (force push|force-push|push force|push by force) [ARGS]",
    "(make|do) a force push [ARGS]",
    f"{_RUN} git clean [ARGS]",
    f"{_RUN} rm (-rf|-fr|-r|-f|-Rf) [ARGS]",
    "drop [the] (table|database|tables|schema) [ARGS]",
    "truncate [the] (table|database) [ARGS]",
)
_SEPARATORS = word_set(". ! ? ; , : and then && |") | {"\n"}


def danger_in(tokens: tuple[Token, ...]) -> str:
    """Why no rule may act on the request, or an empty text."""
    request = without_courtesy(tokens)
    if _is_command_line(request) or _runs_quoted_command(request):
        return "a shell command; no rule runs one"
    if any(_destroys(clause) for clause in clauses(request)):
        return "it would destroy more than one named file"
    return ""


def clauses(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """The request's parts between marks and `and`, `then`; each without its polite words."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.key in _SEPARATORS or token.kind in {"fence", "paste"}:
            parts.append([])
        else:
            parts[-1].append(token)
    stripped = (without_courtesy(tuple(part)) for part in parts)
    return [part for part in stripped if part]


def _is_command_line(tokens: Sequence[Token]) -> bool:
    if not tokens or tokens[0].kind != "word":
        return False
    words = [token.key for token in tokens]
    if words[0] in {"run", "execute"} and len(words) > 1 and words[1] in _PROGRAMS:
        return True
    if words[0] in _PROGRAMS:
        return True
    signs = any(token.key in _SIGNS for token in tokens) or any(token.text.startswith("$(") for token in tokens)
    flags = any(word.startswith("-") and len(word) > 1 for word in words[1:])
    return words[0] in _ALSO_WORDS and (signs or (flags and words[0] not in _KNOWN_COMMANDS))


def _runs_quoted_command(tokens: Sequence[Token]) -> bool:
    """`run` with a command line in backticks or quotes."""
    if not tokens or tokens[0].key not in {"run", "execute", "do", "perform", "type"}:
        return False
    quoted = (token.text for token in tokens[1:] if token.kind in {"code", "quote"} and len(token.text) <= 400)
    inner = [read_prompt(text).tokens for text in quoted]
    return any(_is_command_line(parts) or any(_destroys(clause) for clause in clauses(parts)) for parts in inner)


def _destroys(clause: Sequence[Token]) -> bool:
    short = clause[:12]
    return any(_match(phrase, short) is not None for phrase in _PHRASES)


def _match(phrase: str, tokens: Sequence[Token]) -> Captures | None:
    return match(phrase, tokens, _any_word)


def _any_word(_: str, token: Token) -> str | None:
    return token.text if token.kind == "word" else None
