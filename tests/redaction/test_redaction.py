"""Secrets go, in every spelling; ordinary text stays."""

from __future__ import annotations

import base64
import json
import string
import subprocess
import sys
import tracemalloc
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codur.redaction import REDACTED, Redactor, redact_value, secrets_of
from codur.workspace.private import secret_values

SECRET = 'n0t/seen+"here"&never='
PROJECT = Path(__file__).resolve().parents[2]
LETTERS = string.ascii_letters + string.digits
PEM_BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] * 4)
PEM = f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}\nAQAB12==\n-----END PRIVATE KEY-----"
JWT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890"}', b"signature-of-32-bytes-in-all-ok!")
)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        json.dumps(SECRET),
        json.dumps({"a": [SECRET]}),
        json.dumps(SECRET).replace("/", "\\/"),
        repr(SECRET),
        SECRET.encode().hex(),
        *(base64.b64encode(b"u" * offset + SECRET.encode() + b":x" * offset).decode() for offset in range(4)),
        base64.urlsafe_b64encode(b"user:" + SECRET.encode()).decode(),
        "n0t/seen+&quot;here&quot;&amp;never=",
    ],
)
def test_a_known_value_goes_in_every_spelling(form: str) -> None:
    shown = Redactor([SECRET])(f"before {form} after")
    assert REDACTED in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")
    for length in range(8, len(form)):
        core = form[4:-4] if len(form) > 16 else form
        assert core[:length] not in shown


def test_secrets_that_overlap_go_together() -> None:
    redactor = Redactor(["abcdefgh1234", "1234zzzzzzzz", "abcdefgh"])
    assert redactor("<abcdefgh1234zzzzzzzz>") == f"<{REDACTED}>"
    assert redactor("<abcdefgh1234>") == f"<{REDACTED}>"
    assert redactor("abcdefghabcdefgh") == REDACTED * 2
    assert redactor("<1234zzzzzzzz1234zzzzzzzz>") == f"<{REDACTED}{REDACTED}>"


def test_a_secret_that_overlaps_itself_leaves_no_rest() -> None:
    assert Redactor(["abaabaaba"])("xabaabaabaabax") == f"x{REDACTED}x"


def test_short_values_are_words() -> None:
    assert Redactor(["a", "", "1234567", "   "])("a 1234567") == "a 1234567"


def test_the_mark_itself_stays() -> None:
    assert Redactor(["redacted"])(REDACTED) == REDACTED
    assert Redactor(["lone-\ud800-surrogate"])("<lone-\ud800-surrogate>") == f"<{REDACTED}>"
    once = Redactor([SECRET])(f"key {SECRET}")
    assert Redactor([SECRET])(once) == once


def test_a_value_of_several_lines_is_found_line_by_line() -> None:
    secret = "-----BEGIN THING-----\nfirst-line-of-the-secret\n  second-line-of-the-secret  \nshort\n"
    shown = Redactor([secret])("1: first-line-of-the-secret\n2: second-line-of-the-secret\n3: short")
    assert shown == f"1: {REDACTED}\n2: {REDACTED}\n3: short"
    assert Redactor(["  padded-secret-value\n"])("x=padded-secret-value;") == f"x={REDACTED};"


@pytest.mark.parametrize(
    "key",
    [
        "AKIAIOSFODNN7ABCDEFG",
        "ASIA0123456789ABCDEF",
        "ghp_" + "a1" * 18,
        "SG." + "a1" * 11 + "." + "b2" * 21,
        "shpat_" + "a1" * 16,
        "tskey-auth-" + "a1" * 8 + "-" + "b2" * 12,
        "hvs." + "a1" * 40,
        "nvapi-" + "a1" * 32,
        "AGE-SECRET-KEY-1" + "Q2" * 29,
        "dapi" + "a1" * 16,
        "pat-na1-" + "1234abcd-1234-1234-1234-123456789abc",
        "ghs_" + "A1" * 18,
        "github_pat_11ABCDEFG0" + "a1_" * 20,
        "glpat-" + "a1-B2_c3D4e5F6g7H8i9",
        "sk-" + "a1B2" * 12,
        "sk-proj-" + "a1B2-c3_D4" * 8,
        "sk-ant-api03-" + "a1B2-c3_D4" * 8,
        "gsk_" + "a1B2" * 13,
        "sk_live_" + "a1B2" * 6,
        "xoxb-123456789012-1234567890123-" + "a1B2" * 6,
        "hf_" + "aB1c" * 9,
        "npm_" + "a1B2c3" * 6,
        "pypi-AgEIcHlwaS5vcmc" + "a1B2" * 20,
        "AIza" + "a1B2c" * 7,
        "xai-" + "a1B2" * 20,
        JWT,
        PEM,
        PEM.replace("\n", "\\n"),
        PEM.replace("\n", "\r\n"),
        PEM.replace(" PRIVATE", " RSA PRIVATE"),
        PEM.replace("KEY-----\nM", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\nM"),
        PEM.replace("PRIVATE KEY", "OPENSSH PRIVATE KEY").replace("\n", "\n    "),
    ],
)
def test_what_has_the_shape_of_a_key_goes(key: str) -> None:
    redactor = Redactor()
    for text in (f"x = '{key}'", f"({key})", f"KEY: {key}\nnext", f'"{key}", next'):
        shown = redactor(text)
        assert REDACTED in shown, text
        assert not any(key[at : at + 10] in shown for at in range(max(len(key) - 50, 0), len(key) - 10))
    assert redactor(f"{key}\nnext line") == f"{REDACTED}\nnext line"


def test_a_private_key_goes_when_it_is_cut_off_or_has_marks_before_its_lines() -> None:
    redactor = Redactor()
    for text in (
        PEM[:200],
        "\n".join("+" + line for line in PEM.splitlines()),
        "\n".join(f"{number:4} | {line}" for number, line in enumerate(PEM.splitlines(), 1)),
        "\n".join(f"{number}\t{line}" for number, line in enumerate(PEM.splitlines(), 1)),
    ):
        assert "MIIEvQIBADAN" not in redactor(text)
        assert "9Us8cKj" not in redactor(text)


def test_passwords_in_urls_go_and_the_rest_of_the_url_stays() -> None:
    redactor = Redactor()
    assert redactor("postgres://me:s3cr3t!pw@db:5432/x") == f"postgres://me:{REDACTED}@db:5432/x"
    assert redactor("https://:only-password@h/") == f"https://:{REDACTED}@h/"
    assert redactor("https://0123456789abcdef0123@h/") == f"https://{REDACTED}@h/"


def test_credentials_in_headers_and_env_files_go() -> None:
    redactor = Redactor()
    assert redactor("Authorization: Bearer abcdef0123456789abcdef") == f"Authorization: Bearer {REDACTED}"
    text = "DB_HOST=localhost\nexport APP_SECRET_KEY='wJalrXUtnFEMI0K7MDENG+bPx'\nDEBUG=1\n"
    assert redactor(text) == f"DB_HOST=localhost\nexport APP_SECRET_KEY='{REDACTED}'\nDEBUG=1\n"


@pytest.mark.parametrize(
    "text",
    [
        'url = f"https://{user}:{password}@{host}/"',
        "postgres://user:password@localhost/db",
        "https://host:8080/path@version",
        "git@github.com:owner/name.git",
        'if text.startswith("-----BEGIN PRIVATE KEY-----"):\n    return read(text)\n',
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n-----END PUBLIC KEY-----",
        ".sk-estimator-doc-link-wrapper { color: red }",
        "task-1234567890123456789012345",
        "API_KEY=os.environ['API_KEY_NAME_NUMBER_1']",
        "API_KEY=${SOME_OTHER_VARIABLE_1}",
        "API_KEY=your-api-key-goes-here-123",
        'headers = {"Authorization": "Bearer " + token}',
        "sha256:" + "0123456789abcdef" * 4,
        "eyJ is how tokens begin, eyJ.eyJ. is none",
        "def test_password_is_checked_when_token_is_missing(): ...",
        "xoxo-from-me-to-you",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor([SECRET])(text) is text


def test_the_projects_own_sources_stay_as_they_are() -> None:
    redactor = Redactor([SECRET])
    sources = [*PROJECT.glob("codur/**/*.py"), *PROJECT.glob("challenges/**/*.*"), *PROJECT.glob("config/**/*.*")]
    texts = {path: path.read_bytes().decode("utf-8", "replace") for path in sources if path.is_file()}
    assert len(texts) > 100
    assert [str(path) for path, text in texts.items() if redactor(text) is not text] == []


@given(st.text(max_size=200), st.text(max_size=200), st.text(LETTERS + "/+&\"'%éß\\", min_size=8, max_size=60))
def test_nothing_of_a_secret_is_left_and_the_rest_is_kept(before: str, after: str, secret: str) -> None:
    shown = Redactor([secret])(before + secret + after)
    if len(secret.strip()) >= 8 and secret not in REDACTED:
        assert secret not in shown
    assert Redactor([secret])(shown).count(secret) == shown.count(secret)


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "eyJabcdefgh.",
        "sk-",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "KEY",
        "KEY=",
        "earer ",
        "ghp_",
        "a@",
        "xox",
    ],
)
def test_hostile_texts_take_linear_time(piece: str) -> None:
    """In a process with a CPU limit: 4 MB of pieces that begin a search over and over."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "from codur.redaction import Redactor\n"
        f"text = {piece!r} * (4_000_000 // {len(piece)})\n"
        "Redactor(['aaaaaaaaaaaaaaab'])(text)\n"
        "print('done')"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "done\n")


def test_secrets_of_an_environment() -> None:
    environ = {
        "GROQ_API_KEY": "gsk-not-a-real-one",
        "MY_TOKEN": "t0ken-value",
        "DB_PASSWORD": "correct horse",
        "DB_PASS": "swordfish-9",
        "AWS_SECRET": "s3cret-value",
        "GOOGLE_CREDENTIALS": '{"type": "service"}',
        "PROXY_AUTH": "user:passw",
        "AUTHORIZATION": "Basic dXNlcjpw",
        "DATABASE_URL": "postgres://me:db-password@db/x",
        # not secrets
        "PATH": "/usr/bin:/bin",
        "HOME": "/root",
        "GIT_AUTHOR_NAME": "Jane Developer",
        "XAUTHORITY": "/root/.Xauthority",
        "SSH_AUTH_SOCK": "/tmp/ssh-x/agent.1",
        "TOKENIZERS_PARALLELISM": "whatever-it-is",
        "KEYBOARD_LAYOUT": "de-nodeadkeys",
        "TOKEN_LIFETIME": "86400000",
        "AUTH_URL": "https://example.org/login",
        "DEFAULT_PASSWORD": "password",
        "SHORT_KEY": "abc",
        "EMPTY_TOKEN": "",
    }
    assert set(secrets_of(environ)) == {
        "gsk-not-a-real-one",
        "t0ken-value",
        "correct horse",
        "swordfish-9",
        "s3cret-value",
        '{"type": "service"}',
        "user:passw",
        "Basic dXNlcjpw",
        "db-password",
    }


Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    text: str
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    items: tuple[Inner, ...]
    by_name: dict[str, list[str]]
    path: PurePosixPath
    derived: str = field(default="derived", init=False)


def test_values_are_walked() -> None:
    value = Outer(
        items=(Inner(text=f"a {SECRET}"), Inner(text="b", number=3)),
        by_name={f"k {SECRET}": [SECRET, "x"]},
        path=PurePosixPath("/x"),
    )
    shown = redact_value(value, Redactor([SECRET]))
    assert shown == Outer(
        items=(Inner(text=f"a {REDACTED}"), Inner(text="b", number=3)),
        by_name={f"k {REDACTED}": [REDACTED, "x"]},
        path=PurePosixPath("/x"),
    )
    assert redact_value({"a": {SECRET}, "b": Pair(SECRET, 1)}, Redactor([SECRET])) == {
        "a": {REDACTED},
        "b": Pair(REDACTED, 1),
    }


def test_values_without_a_secret_are_the_same_object() -> None:
    value = Outer(items=(Inner(text="a"),), by_name={"k": ["x"]}, path=PurePosixPath("/x"))
    assert redact_value(value, Redactor([SECRET])) is value
    for plain in (None, 1, 2.5, True, b"bytes", Inner):
        assert redact_value(plain, Redactor([SECRET])) is plain


def test_values_nested_too_deep_are_replaced() -> None:
    value: list[object] = [SECRET]
    for _ in range(500):
        value = [value]
    shown = json.dumps(redact_value(value, Redactor([SECRET])))
    assert "n0t/seen" not in shown
    assert REDACTED in shown


def test_secrets_of_a_file_of_settings(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "export DB_PASSWORD='zebra@Quartz-5150'  # the shop's\nDB_USER=shop-of-mine\nSECRET_KEY=example-value\n"
    )
    (tmp_path / ".env.example").write_text("DB_PASSWORD=\nSECRET_KEY=example-value\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "secrets.yaml").write_text("mail:\n  password: maple-Otter-22\n  host: mail.example\n")
    (tmp_path / "app.py").write_text("TOKEN = 'stands-in-the-source'\n")
    assert secret_values(tmp_path) == ("maple-Otter-22", "zebra@Quartz-5150")
    assert secret_values(tmp_path / "nowhere") == ()


def test_a_link_that_leads_to_itself_hides_no_secret(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".env").write_text("A_KEY=Tr0ub4dor-sub1\n")
    (tmp_path / "loop").symlink_to("loop")
    assert secret_values(tmp_path) == ("Tr0ub4dor-sub1",)


def test_a_link_to_where_one_may_not_look_hides_no_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A_KEY=Tr0ub4dor-top1\n")
    (tmp_path / "long").symlink_to("x" * 300)
    assert secret_values(tmp_path) == ("Tr0ub4dor-top1",)


@pytest.mark.parametrize("text", [" ".join(f"A_KEY=x{i}y" for i in range(5_000)), "a=" * 32_000, "A_KEY='\"' " * 5_000])
def test_settings_in_one_line_give_no_more_than_ten_megabytes(text: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(text)
    tracemalloc.start()
    try:
        assert sum(map(len, secret_values(tmp_path))) <= 1_024_000
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "text", "secrets"),
    [
        (".npmrc", "//registry.example.com/:_authToken=0f3c2b7e-1111-2222", ("0f3c2b7e-1111-2222",)),
        (".netrc", "machine example.com login ann password Tr0ub4dor-netrc", ("Tr0ub4dor-netrc",)),
        (".pgpass", "db.example.com:5432:app:ann:Tr0ub4dor-pgpass\n", ("Tr0ub4dor-pgpass",)),
        (".htpasswd", "ann:$apr1$Tr0ub4do$htpasswdhash\n", ("$apr1$Tr0ub4do$htpasswdhash",)),
        ("secrets.json", '{"type": "x", "client_secret": "Tr0ub4dor-oneline", "b": 1}', ("Tr0ub4dor-oneline",)),
        (".env", "A_KEY='Tr0ub4dor #5 quoted'", ("Tr0ub4dor #5 quoted",)),
        (".env", "D_SECRET=Tr0ub4dor-tab\t# comment", ("Tr0ub4dor-tab",)),
        # common words, and words that the sources have too
        (".env", "A_KEY=changeme\nB_TOKEN=database\nC_PASSWORD=postgres\nD_KEY=Admin123", ("Admin123",)),
        (".env", "AUTH_PROVIDER=firebase\nAUTH_BACKEND=app.auth_backend\nDB_PASSWORD=butterfly", ("butterfly",)),
        (".env", "# Redis password defaults to none\n# DB_PASSWORD=settings\nA_SECRET= # set elsewhere\n", ()),
        (".env", "A_KEY=abcdefghijklmnopqrstuv\nB_KEY=one-two-three", ("abcdefghijklmnopqrstuv", "one-two-three")),
        (".env", "# DB_PASSWORD=Tr0ub4dor-old\n;B_TOKEN = Tr0ub4dor-2\r\n", ("Tr0ub4dor-2", "Tr0ub4dor-old")),
        # in quotes, with an end or without
        (
            ".env",
            'A_KEY="Tr0ub\\"4dor"\nB_KEY="Tr0ub4dor-open\nC_KEY=#Tr0ub4dor',
            ("#Tr0ub4dor", 'Tr0ub"4dor', "Tr0ub4dor-open"),
        ),
        (".env", 'A_KEY="-----BEGIN PRIVATE KEY-----\n', ()),
        ("secrets.yaml", "key: 'it''s Tr0ub4dor'", ("it's Tr0ub4dor",)),
        # several on a line
        ("secrets.yaml", "db: {password: Tr0ub4dor-1, url: 'x'}", ("Tr0ub4dor-1", "Tr0ub4dor-1, url: 'x")),
        (".env", "URL=https://api.example.com/?token=Tr0ub4dor-2&a=1", ("Tr0ub4dor-2", "Tr0ub4dor-2&a=1")),
        (".git-credentials", "https://ann:Tr0ub4dor-3@example.com\n", ("Tr0ub4dor-3",)),
        (".pgpass", "# the:password\nh:1:db:ann:#Tr0ub\\:4dor\n", ("#Tr0ub:4dor",)),
        (".netrc", "# no password whatsoever\nmachine a password\n Tr0ub4dor-4\n", ("Tr0ub4dor-4",)),
        (".netrc", 'machine a login b password "Tr0ub4dor 5" account c\n', ("Tr0ub4dor 5",)),
    ],
)
def test_secrets_in_files_of_several_kinds(name: str, text: str, secrets: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert secret_values(tmp_path) == secrets
