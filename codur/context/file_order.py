"""Which files come before others wherever files are listed."""

from functools import cache

from codur.lazy import regex

_CODE = regex(
    r".*\.(?:pyi?|pyx|[cm]?[jt]sx?|go|rs|java|kt|scala|[ch](?:c|h|pp|xx)?|cs|rb|php|swift|lua|p[lm]|sh|sql|vue)"
)
_BESIDE = frozenset(
    "tests test __tests__ spec specs testdata fixtures docs doc documentation examples example samples demo demos"
    " benchmarks locale locales i18n translations".split()
)
_TEST_NAME = regex(
    r"test_.*|.*_tests?\.\w+|tests?\.py|conftest\.py|.*\.(?:test|spec)\.\w+|.*_spec\.rb|\w*Tests?\.(?:cs|java|php)|setup\.py|noxfile\.py"
)
_NOT_WRITTEN = frozenset("vendor vendored _vendor third_party node_modules dist site-packages generated".split())
_GENERATED_NAME = regex(
    r".*_pb2(?:_grpc)?\.pyi?|.*\.min\.(?:js|css)|.*[.-]lock(?:\.\w+)?|package-lock\.json|.*\.(?:map|pot?|mo)"
    r"|.*\.(?:o|obj|a|so|dylib|dll|exe|class|jar|rlib|rmeta|beam|wasm)"
)

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
"""Endings of data in rows that are alike: a few tell what the others hold."""


def is_vendored(path: str) -> bool:
    """Whether a file is another project's, or built: no task names it by chance."""
    return not _NOT_WRITTEN.isdisjoint(path.split("/")[:-1])


@cache
def standing(path: str) -> int:
    """0 for a source; 1 for tests, examples, documents, settings and data; 2 for what is hidden, made or vendored."""
    *directories, name = path.split("/")
    if path.startswith(".") or "/." in path or not _NOT_WRITTEN.isdisjoint(directories):
        return 2
    if _GENERATED_NAME.fullmatch(name) or any(each.endswith(".egg-info") for each in directories):
        return 2
    is_code = _CODE.fullmatch(name) or (directories[-1:] == ["bin"] and "." not in name)
    beside = _TEST_NAME.fullmatch(name) or not _BESIDE.isdisjoint(directories) or not is_code
    return 1 if beside else 0
