"""The workspace that the tests of the pattern phase ask about."""

from __future__ import annotations

from pathlib import Path

from codur.workspace.workspace import Workspace

FILES = {
    "main.py": 'import utils\n\nif __name__ == "__main__":\n    print(utils.total([1, 2]))\n',
    "app.py": "import os\n\n\ndef start():\n    return os.name\n",
    "utils.py": "def total(numbers):\n    return sum(numbers)\n",
    "src/parser.py": "class Parser:\n    def run(self):\n        return None\n",
    "tests/test_app.py": "def test_one():\n    assert True\n",
    "notes.txt": "a\n",
    "my file.txt": "b\n",
    "tmp.txt": "c\n",
    "README.md": "# Sample\n",
    "Makefile": "all:\n",
    "docs/guide.md": "guide\n",
    "data/input.csv": "1,2\n",
}


def make_workspace(root: Path, files: dict[str, str] = FILES) -> Workspace:
    """A workspace with these files below `root`."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Workspace.open(root)
