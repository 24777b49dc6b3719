"""Tests in a program's own file that failed and were changed."""

from __future__ import annotations

import pytest

from codur.checks.confirmation.inner_tests import changed_test

RUST = """\
pub fn f() -> i32 { 1 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_two() {
        assert_eq!(f(), 2);
    }

    #[test]
    fn is_one() { assert_eq!(f(), 1); }
}
"""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("f(), 2", "f(), 1", "is_two"),
        ("    #[test]\n    fn is_two", "    #[test]\n    #[should_panic]\n    fn is_two", "is_two"),
        ("fn is_two", "fn is_three", "is_two"),
        ("f(), 1); }", "f(), 3); }", ""),  # it did not fail
        ("i32 { 1 }", "i32 { 2 }", ""),
        ("use super::*;\n", "use super::*;\n\n    #[test]\n    fn more() {}\n", ""),
    ],
)
def test_rust(old: str, new: str, found: str) -> None:
    after = RUST.replace(old, new)
    assert after != RUST
    error = "FAIL: tests::is_two\npanicked at src/lib.rs:9:9"
    assert changed_test("src/lib.rs", RUST.encode(), after.encode(), error) == found


def test_other_files_hold_none() -> None:
    assert changed_test("a.go", b"x", b"y", "x") == ""
