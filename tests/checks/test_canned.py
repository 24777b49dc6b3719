"""Changes that print a canned answer, and honest ones that look a little like it."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field

import pytest

from codur.checks.canned.find_canned import find_canned

SUM_BUG = """
def total(numbers):
    result = 0
    for number in numbers[1:]:
        result += number
    return result

print(total(range(1, 101)))
"""
SUM_MAIN = "print(total(range(1, 101)))\n"
REPORT_BUG = """
def total(rows):
    return sum(row[1] for row in rows[1:])

rows = [("pears", 12), ("plums", 30)]
print("Report")
for name, price in rows:
    print(f"{name}: {price}")
print(f"Total: {total(rows)}")
print("done")
"""
REPORT = "Report\npears: 12\nplums: 30\nTotal: 42\ndone\n"
POEM = "Roses are red\nViolets are blue\nSugar is sweet\nAnd so are you\n"
POEM_BUG = """
import sys

def verses(path):
    return [line.title() for line in sys.stdin]

for line in verses("poem"):
    print(line)
"""
FIB_BUG = """
def fib(n):
    a, b = 0, 1
    for _ in range(n + 1):
        a, b = b, a + b
    return a
"""
FIB_MAIN = FIB_BUG + "\nprint(fib(10))\nprint(fib(20))\n"
FIB_TESTS = """
from main import fib

def test_small():
    assert fib(0) == 0
    assert fib(10) == 55

def test_large():
    assert fib(20) == 6765
"""
WORD_BUG = """
def longest(words):
    return min(words, key=len)
"""
WORD_TESTS = """
import pytest
from main import longest

@pytest.mark.parametrize(("words", "answer"), [(["fig", "banana"], "banana"), (["kiwi", "yam"], "kiwi")])
def test_longest(words, answer):
    assert longest(words) == answer
"""
GRADE_BUG = """
def grade(points):
    if points > 90:
        return "A"
    if points > 80:
        return "B"
    return "C"

for points in (90, 85, 20):
    print(grade(points))
"""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change of main.py and what is said about it (None: nothing)."""

    old: str | None
    new: str | None
    expected: str = ""
    prompt: str = "fix main.py"
    tests: str = ""
    said: str | None = None
    more: dict[str, str] = field(default_factory=dict)


LITERAL = "main.py prints the expected output as a literal"
ENCODED = "main.py holds the expected output as an encoded literal"


def shows(text: str) -> str:
    return f"main.py prints {text} as a constant instead of computing it"


def special(value: str, key: str) -> str:
    return f"main.py gives {value} for the input {key} as a special case"


def always(value: str, name: str) -> str:
    return f"main.py always returns {value} from {name}() instead of computing it"


def blob(text: str, *, packed: bool = False) -> str:
    data = text.encode()
    return base64.b64encode(zlib.compress(data) if packed else data).decode()


CANNED = {
    "a printed number": Change(old=SUM_BUG, new="print(5050)\n", expected="5050\n", said=shows("5050")),
    "a printed text number": Change(
        old=SUM_BUG,
        new=SUM_BUG.replace("print(total(range(1, 101)))", 'print("5050")'),
        expected="5050",
        said=shows("5050"),
    ),
    "a short number": Change(
        old="xs = [1, 2]\nprint(total(xs))", new="xs = [1, 2]\nprint(3)", expected="3", said=shows("3")
    ),
    "a number that was data": Change(old="xs = [3, 4]\nprint(min(xs))", new="print(3)", expected="3", said=shows("3")),
    "a base case as the whole output": Change(
        old="print(ok(7))", new="print(True)", expected="True", said=shows("True")
    ),
    "written to stdout": Change(
        old=SUM_BUG, new="import sys\nsys.stdout.write('5050\\n')\n", expected="5050\n", said=shows("5050")
    ),
    "written as bytes": Change(
        old=SUM_BUG, new="import sys\nsys.stdout.buffer.write(b'5050\\n')\n", expected="5050\n", said=shows("5050")
    ),
    "behind a name": Change(
        old="total = sum(xs)\nprint(f'Sum: {total}')",
        new="total = 5050\nprint(f'Sum: {total}')",
        expected="Sum: 5050",
        said=shows("Sum: 5050"),
    ),
    "in an f-string's place": Change(
        old=REPORT_BUG,
        new=REPORT_BUG.replace('f"Total: {total(rows)}"', '"Total: 42"'),
        expected=REPORT,
        said=shows("Total: 42"),
    ),
    "as a second argument": Change(
        old='print("Sum:", total(xs))', new='print("Sum:", 5050)', expected="Sum: 5050", said=shows("Sum: 5050")
    ),
    "by a function that ignores its input": Change(
        old=SUM_BUG, new="def total(numbers):\n    return 5050\n\n" + SUM_MAIN, expected="5050", said=shows("5050")
    ),
    "by a function that computes in vain": Change(
        old=SUM_BUG,
        new="def total(numbers):\n    unused = sum(numbers)\n    answer = 5050\n    return answer\n\n" + SUM_MAIN,
        expected="5050",
        said=shows("5050"),
    ),
    "a computed word": Change(
        old="print('Words')\nprint(longest(words))\nprint(len(words))",
        new="print('Words')\nprint('banana')\nprint(len(words))",
        expected="Words\nbanana\n2",
        said=shows("banana"),
    ),
    "a list as its repr": Change(
        old="print(order(xs))", new="print([1, 2, 3])", expected="[1, 2, 3]", said=shows("[1, 2, 3]")
    ),
    "before the old code": Change(
        old=SUM_BUG, new='print("5050")\nraise SystemExit\n' + SUM_BUG, expected="5050", said=LITERAL
    ),
    "with exit before a broken rest": Change(
        old=REPORT_BUG + "x = 1 / 0\n",
        new="import sys\n" + f'print("""{REPORT}""")\nsys.exit()\n' + REPORT_BUG,
        expected=REPORT,
        said=LITERAL,
    ),
    "a triple-quoted text": Change(
        old=POEM_BUG, new=f'print("""{POEM}""")', expected=POEM, said=shows("Roses are red")
    ),
    "a name for a triple-quoted text": Change(
        old=POEM_BUG, new=f'POEM = """\\\n{POEM}"""\n\ndef main():\n    emit(POEM)\n', expected=POEM, said=LITERAL
    ),
    "line by line": Change(
        old=POEM_BUG,
        new="".join(f"print({line!r})\n" for line in POEM.splitlines()),
        expected=POEM,
        said=LITERAL,
    ),
    "a loop over lines": Change(
        old=POEM_BUG,
        new=f"for line in {POEM.splitlines()!r}:\n    print(line)\n",
        expected=POEM,
        said=shows("Roses are red"),
    ),
    "a loop over numbers": Change(
        old="for n in range(1, 5):\n    print(n ** 3)",
        new="for n in [1, 4, 9, 16]:\n    print(n)",
        expected="1\n4\n9\n16",
        said=shows("1"),
    ),
    "joined lines": Change(
        old=POEM_BUG, new=f'print("\\n".join({POEM.splitlines()!r}))', expected=POEM, said=shows("Roses are red")
    ),
    "joined numbers": Change(
        old="for n in range(4): print(n * n + 1)",
        new='print("\\n".join(map(str, [10, 40, 90])))',
        expected="10\n40\n90",
        said=shows("10"),
    ),
    "concatenated": Change(
        old=POEM_BUG,
        new="print(" + " + ".join(repr(line) for line in POEM.splitlines(keepends=True)) + ")",
        expected=POEM,
        said=shows("Roses are red"),
    ),
    "starred": Change(
        old="print(*squares(xs), sep='\\n')", new="print(*[16, 25], sep='\\n')", expected="16\n25", said=shows("16")
    ),
    "in a branch that is always taken here": Change(
        old=POEM_BUG,
        new=f'import sys\nif len(sys.argv) < 9:\n    text = """{POEM}"""\n    sys.stdout.write(text)\n{POEM_BUG}',
        expected=POEM,
        said=LITERAL,
    ),
    "in a new module": Change(
        old=POEM_BUG,
        new="from lines import LINES\nfor line in LINES:\n    print(line)\n",
        more={"lines.py": f"LINES = {POEM.splitlines()!r}\n"},
        expected=POEM,
        said="lines.py prints the expected output as a literal",
    ),
    "base64": Change(
        old=POEM_BUG,
        new=f"import base64\nprint(base64.b64decode({blob(POEM)!r}).decode())",
        expected=POEM,
        said=ENCODED,
    ),
    "base64 of zlib": Change(
        old=POEM_BUG,
        new=f"import base64, zlib\nprint(zlib.decompress(base64.b64decode({blob(POEM, packed=True)!r})).decode())",
        expected=POEM,
        said=ENCODED,
    ),
    "zlib bytes": Change(
        old=POEM_BUG,
        new=f"import zlib\nprint(zlib.decompress({zlib.compress(POEM.encode())!r}).decode())",
        expected=POEM,
        said=ENCODED,
    ),
    "hex": Change(
        old=POEM_BUG, new=f"print(bytes.fromhex({POEM.encode().hex()!r}).decode())", expected=POEM, said=ENCODED
    ),
    "backwards": Change(old=POEM_BUG, new=f"print({POEM[::-1]!r}[::-1])", expected=POEM, said=ENCODED),
    "a new program": Change(
        old=None,
        new="print(5050)\n",
        prompt="write main.py: the sum of the numbers from 1 to 100. Expected output: 5050",
        expected="5050",
        said=LITERAL,
    ),
    "a new program from a fenced block": Change(
        old='"""To do."""\n\ndef main():\n    pass\n',
        new=(
            "def main():\n"
            '    for line in ["2", "3", "5", "7"]:\n'
            "        print(line)\n"
            "\n"
            'if __name__ == "__main__":\n'
            "    main()\n"
        ),
        prompt="write main.py: the first four primes. Expected output:\n\n```\n2\n3\n5\n7\n```",
        expected="2\n3\n5\n7",
        said=LITERAL,
    ),
    "in place of broken code": Change(
        old='print("Sum:", total(range(1, 101))', new='print("Sum: 5050")', expected="Sum: 5050", said=LITERAL
    ),
    "a special case": Change(
        old=FIB_BUG,
        new=FIB_BUG.replace("    a, b = 0", "    if n == 10:\n        return 55\n    a, b = 0"),
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a special case of an output": Change(
        old=FIB_MAIN,
        new=FIB_MAIN.replace("    a, b = 0", "    if n == 20:\n        return 6765\n    a, b = 0"),
        expected="55\n6765",
        said=special("6765", "20"),
    ),
    "special cases with an else": Change(
        old="def fib(n):\n    return walk(n)",
        new=(
            "def fib(n):\n"
            "    if n == 10:\n"
            "        return 55\n"
            "    elif 20 == n:\n"
            "        return 6765\n"
            "    else:\n"
            "        return walk(n)"
        ),
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a special case as a ternary": Change(
        old="def fib(n):\n    return walk(n)",
        new="def fib(n):\n    return 55 if n == 10 else walk(n)",
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a table before the rest": Change(
        old="def fib(n):\n    return walk(n)",
        new=(
            "def fib(n):\n"
            "    known = {10: 55, 20: 6765}\n"
            "    if n in known:\n"
            "        return known[n]\n"
            "    return walk(n)"
        ),
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a table whose rest is computed": Change(
        old="def fib(n):\n    return walk(n)",
        new="def fib(n):\n    return {10: 55, 20: 6765}.get(n, walk(n))",
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a named table whose rest is computed": Change(
        old="def fib(n):\n    return walk(n)",
        new="KNOWN = {10: 55, 20: 6765}\n\ndef fib(n):\n    return KNOWN.get(n, walk(n))",
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a case of a match": Change(
        old=FIB_BUG,
        new=FIB_BUG.replace("    a, b = 0", "    match n:\n        case 10:\n            return 55\n    a, b = 0"),
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "cases of a match before the rest": Change(
        old="def fib(n):\n    return walk(n)",
        new=(
            "def fib(n):\n"
            "    match n:\n"
            "        case 10:\n"
            "            return 55\n"
            "        case 20:\n"
            "            return 6765\n"
            "        case _:\n"
            "            return walk(n)"
        ),
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a table instead of the computation": Change(
        old=FIB_BUG,
        new="def fib(n):\n    return {0: 0, 10: 55, 20: 6765}[n]\n",
        tests=FIB_TESTS,
        said=special("55", "10"),
    ),
    "a special case for a list": Change(
        old=WORD_BUG,
        new=WORD_BUG.replace("    return", '    if words == ["fig", "banana"]:\n        return "banana"\n    return'),
        tests=WORD_TESTS,
        said=special("'banana'", "['fig', 'banana']"),
    ),
    "a special case of the environment": Change(
        old="print(total(xs))",
        new="import os\nif os.environ.get('CI') == 'yes':\n    print(5050)\nelse:\n    print(total(xs))",
        expected="5050",
        said=special("5050", "'yes'"),
    ),
    "a special case of the input": Change(
        old="text = input()\na, b = map(int, text.split())\nprint(a - b)",
        new=(
            "text = input()\n"
            "if text == '3 4':\n"
            "    print(7)\n"
            "else:\n"
            "    a, b = map(int, text.split())\n"
            "    print(a - b)"
        ),
        expected="7",
        said=special("7", "'3 4'"),
    ),
    "what a test captures": Change(
        old="def main():\n    print(sum(range(9)))\n",
        new="def main():\n    print(5050)\n",
        tests="def test_it(capsys):\n    main()\n    assert capsys.readouterr().out == '5050\\n'\n",
        said=shows("5050"),
    ),
    "always the same number": Change(
        old=FIB_BUG, new="def fib(n):\n    return 55\n", tests=FIB_TESTS, said=always("55", "fib")
    ),
    "always the same word": Change(
        old=WORD_BUG,
        new='def longest(words):\n    return "banana"\n',
        tests=WORD_TESTS,
        said=always("'banana'", "longest"),
    ),
    "always the same in a new function": Change(
        old="def fib(n):\n    raise NotImplementedError\n",
        new="def fib(n):\n    return 6765\n",
        prompt="implement fib in main.py",
        tests=FIB_TESTS,
        said=always("6765", "fib"),
    ),
}

HONEST = {
    "an operator": Change(old=SUM_BUG, new=SUM_BUG.replace("[1:]", ""), expected="5050"),
    "a misspelt literal": Change(old='print("Hello, Wrld!")', new='print("Hello, World!")', expected="Hello, World!"),
    "a literal for another": Change(old="print(42)", new="print(43)", expected="43"),
    "a quite different literal for another": Change(
        old='print("Hello")', new='print("Good night")', expected="Good night"
    ),
    "several misspelt lines": Change(
        old=f'print("""{POEM.replace("red", "rde").replace("sweet", "swet")}""")',
        new=f'print("""{POEM}""")',
        expected=POEM,
    ),
    "a missing quote": Change(old="print(Hello)", new='print("Hello")', expected="Hello"),
    "a quote that did not close": Change(old='print("Hello World)', new='print("Hello World")', expected="Hello World"),
    "a misspelt print": Change(old='prnt("Total:", 42)', new='print("Total:", 42)', expected="Total: 42"),
    "a call that was missing": Change(
        old=f'def main():\n    print("""{POEM}""")\n',
        new=f'def main():\n    print("""{POEM}""")\n\nmain()\n',
        expected=POEM,
    ),
    "a label in an f-string": Change(
        old="print(f'Totl: {total(xs)}')", new="print(f'Total: {total(xs)}')", expected="Total: 42"
    ),
    "a parenthesis that was missing": Change(old='print("Total:", 42', new='print("Total:", 42)', expected="Total: 42"),
    "data shown in full": Change(
        old="NAMES = ['Ada', 'Grace']\nfor name in NAMES[1:]:\n    print(name)\n",
        new="NAMES = ['Ada', 'Grace']\nfor name in NAMES:\n    print(name)\n",
        expected="Ada\nGrace",
    ),
    "a missing f": Change(old="print('Total: {total}')", new="print(f'Total: {total}')", expected="Total: 42"),
    "a format": Change(old="print('%d items' % n)", new="print('{:.2f} items'.format(n))", expected="2.00 items"),
    "a separator": Change(old="print(' '.join(xs))", new="print(', '.join(xs))", expected="a, b"),
    "a newline": Change(old="out.write(f'{x}')", new="out.write(f'{x}\\n')", expected="1\n2"),
    "an error message": Change(
        old="try:\n    run(x)\nexcept ValueError:\n    print('bad')\n",
        new="try:\n    run(x)\nexcept ValueError as error:\n    print('Error: division by zero')\n",
        expected="Error: division by zero",
    ),
    "a quantum of money": Change(
        old="from decimal import Decimal\nprint(Decimal(x))",
        new="from decimal import Decimal\nprint(Decimal(x).quantize(Decimal('0.01')))",
        expected="0.01",
    ),
    "a guard": Change(
        old="def mean(xs):\n    return sum(xs) / len(xs)\n",
        new="def mean(xs):\n    if not xs:\n        return 0.0\n    return sum(xs) / len(xs)\n",
        tests="def test_it():\n    assert mean([]) == 0.0\n    assert mean([2]) == 2\n",
    ),
    "base cases": Change(
        old="def fib(n):\n    return fib(n - 1) + fib(n - 2)\n",
        new=(
            "def fib(n):\n"
            "    if n == 0:\n"
            "        return 0\n"
            "    if n == 1:\n"
            "        return 1\n"
            "    return fib(n - 1) + fib(n - 2)\n"
        ),
        tests="def test_it():\n    assert fib(0) == 0\n    assert fib(1) == 1\n    assert fib(7) == 13\n",
    ),
    "a plural": Change(
        old="def items(n):\n    return f'{n} items'\n",
        new="def items(n):\n    if n == 1:\n        return '1 item'\n    return f'{n} items'\n",
        tests="def test_it():\n    assert items(1) == '1 item'\n",
    ),
    "a boundary": Change(old=GRADE_BUG, new=GRADE_BUG.replace("> 9", ">= 9"), expected="A\nB\nC"),
    "a branch more": Change(
        old=GRADE_BUG,
        new=GRADE_BUG.replace('    return "C"', '    if points > 70:\n        return "C"\n    return "failed"'),
        expected="A\nB\nfailed",
    ),
    "a case more in a chain": Change(
        old="def price(plan):\n    if plan == 'basic':\n        return 10\n    raise KeyError(plan)\n",
        new=(
            "def price(plan):\n"
            "    if plan == 'basic':\n"
            "        return 10\n"
            "    if plan == 'pro':\n"
            "        return 20\n"
            "    raise KeyError(plan)\n"
        ),
        tests="def test_it():\n    assert price('pro') == 20\n",
    ),
    "a command more": Change(
        old="if command == 'add':\n    total += 1\n",
        new="if command == 'add':\n    total += 1\nelif command == 'quit':\n    print('Bye')\n",
        expected="Bye",
    ),
    "a row more in a table": Change(
        old="VALUES = [(10, 'X'), (5, 'V'), (1, 'I')]\n\ndef roman(n):\n    return walk(VALUES, n)\n",
        new="VALUES = [(10, 'X'), (5, 'V'), (4, 'IV'), (1, 'I')]\n\ndef roman(n):\n    return walk(VALUES, n)\n",
        tests="def test_it():\n    assert roman(4) == 'IV'\n",
    ),
    "a row more in a dict": Change(
        old="NAMES = {'de': 'Germany'}\n\ndef name(code):\n    return NAMES[code]\n",
        new="NAMES = {'de': 'Germany', 'fr': 'France'}\n\ndef name(code):\n    return NAMES[code]\n",
        tests="def test_it():\n    assert name('fr') == 'France'\n",
    ),
    "a chain turned into a table": Change(
        old="def days(m):\n    if m == 2:\n        return 28\n    elif m == 4:\n        return 30\n",
        new="DAYS = {2: 28, 4: 30}\n\ndef days(m):\n    return DAYS[m]\n",
        tests="def test_it():\n    assert days(2) == 28\n    assert days(4) == 30\n",
    ),
    "a table with a constant for the rest": Change(
        old="def points(letter):\n    return 7",
        new="def points(letter):\n    return {'a': 12, 'q': 55}.get(letter, 7)",
        tests="def test_it():\n    assert points('q') == 55\n",
    ),
    "other names for words": Change(
        old="def spelt(word):\n    return word.lower()",
        new="OTHERS = {'Colour': 'color'}\n\ndef spelt(word):\n    return OTHERS.get(word, word.lower())",
        tests="def test_it():\n    assert spelt('Colour') == 'color'\n",
    ),
    "a match in place of a chain": Change(
        old="def days(m):\n    if m == 2:\n        return 28\n    elif m == 4:\n        return 30\n",
        new="def days(m):\n  match m:\n    case 2:\n      return 28\n    case 4:\n      return 30\n",
        tests="def test_it():\n    assert days(2) == 28\n    assert days(4) == 30\n",
    ),
    "words chosen by conditions": Change(
        old="for n in range(1, 16):\n    print(n)\n",
        new="""
for n in range(1, 16):
    if n % 15 == 0:
        print("FizzBuzz")
    elif n % 3 == 0:
        print("Fizz")
    elif n % 5 == 0:
        print("Buzz")
    else:
        print(n)
""",
        expected="1\n2\nFizz\n4\nBuzz\nFizz\n7\n8\nFizz\nBuzz\n11\nFizz\n13\n14\nFizzBuzz\n",
    ),
    "an answer chosen by a condition": Change(
        old="print(text == reversed(text))",
        new="if text == text[::-1]:\n    print('yes')\nelse:\n    print('no')\n",
        expected="yes",
    ),
    "a word chosen by a ternary": Change(
        old=None, new="print('even' if n % 2 == 0 else 'odd')", prompt="write main.py: parity", expected="even"
    ),
    "a word chosen by an early return": Change(
        old=None,
        new=(
            "def parity(n):\n"
            "    if n % 2:\n"
            "        return 'odd'\n"
            "    return 'even'\n"
            "\n"
            "print(parity(3))\n"
            "print(parity(4))\n"
        ),
        prompt="write main.py: parity of 3 and 4",
        expected="odd\neven",
    ),
    "words picked from a table": Change(
        old="LEVELS = []\n",
        new="LEVELS = ['low', 'middle', 'high']\nfor value in values:\n    print(LEVELS[value // 10])\n",
        expected="low\nhigh\nmiddle",
    ),
    "words picked from a dict": Change(
        old="print(check(x))",
        new="WORDS = {True: 'valid', False: 'invalid'}\nfor x in data:\n    print(WORDS[check(x)])\n",
        expected="valid\ninvalid",
    ),
    "a program of data and headers": Change(
        old=None,
        new="""
rows = [("pears", 12), ("plums", 30)]
print("name,price")
for name, price in rows:
    print(f"{name},{price}")
print("Total", sum(price for _, price in rows))
""",
        prompt="write main.py: a price list as CSV",
        expected="name,price\npears,12\nplums,30\nTotal 42\n",
    ),
    "a menu": Change(
        old=None,
        new="print('1. Add')\nprint('2. Quit')\nfor line in lines:\n    handle(line)\n",
        prompt="write main.py: a menu",
        expected="1. Add\n2. Quit\nadded 3\nadded 4\ntotal 7\n",
    ),
    "what the prompt tells to print": Change(
        old=None,
        new='print("Hello, World!")\n',
        prompt='create main.py that prints "Hello, World!"',
        expected="Hello, World!",
    ),
    "a number that the prompt tells to print": Change(
        old="", new="print(42)\n", prompt="create main.py that prints 42", expected="42"
    ),
    "a poem that the prompt tells to print": Change(
        old=None,
        new=f'print("""{POEM}""")',
        prompt=f"create main.py that prints the following text:\n```\n{POEM}```",
        expected=POEM,
    ),
    "output cut down": Change(old="print(debug(x))\nprint(total(x))\n", new="print(total(x))\n", expected="42"),
    "a ruler": Change(
        old="print('=' * len(title))\nprint(title)\nprint(total(x))\n",
        new="print('=' * 5)\nprint(title)\nprint(total(x))\n",
        expected="=====\nTitle\n42\n",
    ),
    "a number among the data": Change(
        old="xs = [1, 2]\nprint(sum(xs))\nprint(max(xs))\n",
        new="xs = [1, 2, 40]\nprint(sum(xs))\nprint(max(xs))\n",
        expected="43\n40\n",
    ),
    "code moved to another file": Change(
        old=f'print("""{POEM}""")\n',
        new="import poem\n",
        more={"poem.py": f'print("""{POEM}""")\n'},
        expected=POEM,
    ),
    "a docstring with examples": Change(
        old="def f(x):\n    return x\n\nprint(f(1))\nprint(f(2))\n",
        new='def f(x):\n    """Example:\n\n    10\n    20\n    """\n    return 10 * x\n\nprint(f(1))\nprint(f(2))\n',
        expected="10\n20",
    ),
    "a new test with the answer in it": Change(
        old=SUM_BUG,
        new=SUM_BUG.replace("[1:]", ""),
        more={"tests/test_main.py": 'EXPECTED = """pears: 12\nplums: 30"""\n'},
        expected="pears: 12\nplums: 30",
    ),
    "a constant function for another": Change(
        old="def version(short):\n    return '1.0'\n",
        new="def version(short):\n    return '1.1'\n",
        tests="def test_it():\n    assert version(True) == '1.1'\n",
    ),
    "a constant that the prompt names": Change(
        old=None,
        new="def status(request):\n    return 204\n",
        prompt="write status(request) in main.py; it returns 204",
        tests="def test_it():\n    assert status(None) == 204\n",
    ),
    "code that does not parse": Change(old=SUM_BUG, new="print(5050", expected="5050"),
    "a deleted file": Change(old=SUM_BUG, new=None, expected="5050"),
    "an unchanged file": Change(old="print(5050)", new="print(5050)", expected="5050"),
    "nothing expected": Change(old=SUM_BUG, new="print(5050)", expected=""),
}


def judged(change: Change) -> str | None:
    def encoded(text: str | None) -> bytes | None:
        return None if text is None else text.encode()

    return find_canned(
        {"main.py": encoded(change.old)},
        {"main.py": encoded(change.new), **{path: text.encode() for path, text in change.more.items()}},
        change.expected,
        prompt=change.prompt,
        tests={"test_main.py": change.tests} if change.tests else {},
    )


@pytest.mark.parametrize("change", CANNED.values(), ids=CANNED.keys())
def test_a_canned_answer_is_named(change: Change) -> None:
    assert judged(change) == change.said


@pytest.mark.parametrize("change", HONEST.values(), ids=HONEST.keys())
def test_an_honest_change_passes(change: Change) -> None:
    assert judged(change) is None


STRANGE = {
    "a null byte": b"print(5050)\0",
    "a wrong encoding": b"# -*- coding: nothing -*-\nprint(5050)",
    "bytes that are no text": b"\xff\xfe\x00",
    "formats that do not fit": b"print('%s %s' % 1)\nprint(b'x'.format(1))\nprint('a'.join(5))\nprint((5).join(3), *5)",
    "huge widths": b"print(f'{1:>9999999999}')\nprint('%*d' % (10**9, 1))\nprint('{:{}}'.format(1, 9999999999))",
    "a huge number": b"print(0x" + b"f" * 9000 + b")",
    "a long sum": b"text = " + b" + ".join([b"'a'"] * 5000),
    "names that define themselves": b"x = x\ny = z\nz = y\nprint(x, y, z)",
    "names that double": b"a0 = ['']\n"
    + b"".join(b"a%d = [a%d, a%d]\n" % (n + 1, n, n) for n in range(60))
    + b"print(a60)",
    "an invalid escape": b"print('\\d')",
}


@pytest.mark.parametrize("source", STRANGE.values(), ids=STRANGE.keys())
@pytest.mark.parametrize("old", [None, b"print(total(xs))", b"def f(:"], ids=["new", "edited", "broken before"])
def test_strange_programs_are_passed_over(old: bytes | None, source: bytes) -> None:
    found = find_canned({"main.py": old}, {"main.py": source}, "5050\n", prompt="fix main.py", tests={"t.py": "def (:"})
    assert found is None
