"""What is found in, and changed of, sources that are not Python's, with the real grammars; and without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.context.excerpts import fit
from codur.context.index import RepositoryIndex
from codur.context.outline import outline_of
from codur.context.places import places_in
from codur.context.selection import Clues, Want, select
from codur.tools.code.syntax_trees import Syntax, grammar_of
from codur.workspace.workspace import Workspace
from tests.runs.kit import fill
from tests.tools.conftest import toolbox_on

SOURCES = {
    "cart.js": """import { tax } from './lib/tax.js';
const { cents } = require("./lib/cents");

const RATE = 0.2;

/** A cart. */
export class Cart extends Base {
  limit = (n) => n;
  total(items) {
    return items.map((item) => tax(item));
  }
  static #hidden() {}
}

export const weigh = async (x) => x;
exports.label = function () {};
Cart.prototype.clear = function () {};
module.exports = {
  pack() {},
};

describe("Cart", () => {
  it("adds up", () => {
    expect(new Cart().total([])).toBe(0);
  });
});
""",
    "shape.tsx": """interface Shape extends Named { area(): number }
export type Size = number;
enum Colour { Red }
namespace Draw {
  export function line(a: Size): void {}
}
export abstract class Round implements Shape {
  @cached()
  area(): number { return 1; }
  abstract name(): string;
}
export function Box<T>(props: T) { return <b>{props}</b>; }
export const Field: Kind<Size> = memo("field", (props) => {
  const label = pick(() => props.label);
  return <b>{label}</b>;
});
const LIMITS = [1, 2].map((n) => n);
""",
    "stack.go": """package stack

import (
	"fmt"
	u "example.com/m/util"
)

const Max = 3

// Stack holds values.
type Stack[T any] struct {
	*Base
	items []T
}

// Push adds one.
func (s *Stack[T]) Push(item T) error {
	return s.grow()
}

func New() int { return Max }

func TestPush(t *testing.T) {}
""",
    "lib.rs": """mod other;
use crate::other::{helper, Thing};

const LIMIT: u8 = 3;

pub struct Queue<T> {
    items: Vec<T>,
}

impl<T> Queue<T> {
    /// Adds one.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.grow();
    }
}

trait Grow: Sized { fn grow(&self); }

fn free() {}

#[cfg(test)]
mod tests {
    #[test]
    fn pushes() {}
}
""",
    "Shop.java": """package com.acme;

import com.acme.tax.Rate;

/** A shop. */
public class Shop<T> extends Base<T> implements Open, Close {
    static final int MAX = 3;

    @Override
    public int total(int x) {
        return this.sum(x);
    }

    Shop() {}

    @Test
    void addsUp() {}

    record Line(int price) {}
}
""",
    "ring.c": """#include "ring.h"
#include <stdio.h>
#define SIZE 4
#define MIN(a, b) ((a) < (b) ? (a) : (b))

typedef struct { int head; } Cursor;

struct ring {
    int items[SIZE];
};

/* Adds one. */
static int *
push(struct ring *ring, int item)
{
    return 0;
}

int declared(void);
static int count = 1;
""",
    "till.rb": """require 'json'
require_relative '../lib/coins'

module Shop
  autoload :Coin, 'shop/coin'
  COINS = [1, 2].freeze

  # A till.
  class Till < Shop::Box
    include Comparable
    attr_reader :drawer

    # How much.
    def sum(coins, from: 0)
      # all of them
      coins.sum(from) { |coin| worth(coin) }
    end

    def self.open(*) = new

    def []=(at, coin)
      @drawer[at] = coin
    end

    def full?
      drawer.full?
    end

    def drawer=(box); @drawer = box; end

    private def clean
    end
    alias_method :wipe, :clean
    alias size sum

    class Shut < StandardError; end
    Key = Struct.new(:no) do
      def turn; no; end
    end
  end

  module Loud
    def say; end
  end
end

RSpec.describe Shop::Till do
  let(:till) { described_class.new }

  describe '#sum' do
    it 'counts all' do
      expect(till.sum([])).to eq 0
    end
    it { is_expected.to be }
  end
end

class TillTest < Minitest::Test
  def test_sum; end
end
""",
    "Order.php": """<?php

namespace Shop\\Orders;

use Shop\\Tax\\Vat;
use Shop\\{Line, Other as Far};

require_once __DIR__ . '/helpers.php';

const LEAST = 3;

/** An order. */
#[Entity]
final class Order extends Paper implements Sent, \\Countable
{
    use Prints;

    private static ?int $made = 0;

    /**
     * How much.
     */
    #[Pure]
    public function price(array $lines): int
    {
        return $this->add($lines);
    }

    abstract protected function kind(): string;
}

interface Sent { public function send(); }
trait Prints { function print() {} }
enum Size: string { case Big = 'b'; }

function &ship(int $x) { return fn($y) => $y; }

class OrderTest extends TestCase
{
    /** @test */
    public function adds() {}

    #[Test]
    public function more() {}
}

it('sends all', function () {});
""",
    "queue.cpp": """#include "queue.hpp"
#include <vector>

namespace mail {

constexpr int kMost = 3;
using Items = std::vector<int>;

// A queue.
template <typename T>
class Queue2 final : public Base<T> {
public:
    explicit Queue2(int size) : size_(size) {}
    ~Queue2() {}
    bool operator==(const Queue2& other) const { return true; }
    virtual void open() = 0;
private:
    int size_;
};

enum class State { Full };

const std::string& Letter::text() const { return text_; }

template <class T>
T Queue2<T>::take(int at) {
    return items_[at];
}

static Items build() { return {}; }
}

int mail::Letter::weight() { return 2; }

TEST(LetterTest, Weighs) {}
""",
    "Parcel.cs": """using System;
using Post.Tax;

namespace Post.Parcels;

/// <summary>A parcel.</summary>
[Serializable]
public sealed class Parcel<T> : Base<T>, IOpen where T : class
{
    private const int Most = 3;
    public int Size { get; set; }
    public int Count => items.Count;

    public Parcel(int x) : base(x) { }

    /// <summary>How much.</summary>
    [Pure]
    public override int Weigh(int[] items)
    {
        return this.Sum(items);
    }
}

interface IOpen { void Open(); }
public record Stamp(int Price);
enum State { Sent }

public class ParcelTests
{
    [Theory]
    [InlineData(1)]
    public void Weighs(int x) { }
}
""",
}
FOUND = {
    "cart.js": """class Cart 6-13 | export class Cart extends Base
        method Cart.limit 8-8 | limit = (n)
        method Cart.total 9-11 | total(items)
        method Cart.#hidden 12-12 | static #hidden()
        function weigh 15-15 | export const weigh = async (x)
        function label 16-16 | exports.label = function ()
        method Cart.clear 17-17 | Cart.prototype.clear = function ()
        function pack 19-19 | pack()
        module Cart 22-26 | describe("Cart")
        function Cart.adds up 23-25 | it("adds up") test""",
    "shape.tsx": """class Shape 1-1 | interface Shape extends Named
        class Size 2-2 | export type Size = number;
        class Colour 3-3 | enum Colour
        module Draw 4-6 | namespace Draw
        function Draw.line 5-5 | export function line(a: Size): void
        class Round 7-11 | export abstract class Round implements Shape
        method Round.area 8-9 | area(): number
        method Round.name 10-10 | abstract name(): string
        function Box 12-12 | export function Box<T>(props: T)
        function Field 13-16 | export const Field: Kind<Size> = memo("field", (props)""",
    "stack.go": """class Stack 10-14 | type Stack[T any] struct
        method Stack.Push 16-19 | func (s *Stack[T]) Push(item T) error
        function New 21-21 | func New() int
        function TestPush 23-23 | func TestPush(t *testing.T)""",
    "lib.rs": """class Queue 6-8 | pub struct Queue<T>
        class Queue 10-16 | impl<T> Queue<T>
        method Queue.push 11-15 | pub fn push(&mut self, item: T)
        class Grow 18-18 | trait Grow: Sized
        method Grow.grow 18-18 | fn grow(&self);
        function free 20-20 | fn free()
        module tests 22-26 | mod tests
        function tests.pushes 24-25 | fn pushes() test""",
    "Shop.java": """class Shop 5-20 | public class Shop<T> extends Base<T> implements Open, Close
        method Shop.total 9-12 | public int total(int x)
        method Shop.Shop 14-14 | Shop()
        method Shop.addsUp 16-17 | void addsUp() test
        class Shop.Line 19-19 | record Line(int price)""",
    "ring.c": """function MIN 4-4 | #define MIN(a, b) ((a) < (b) ? (a) : (b))
        class Cursor 6-6 | typedef struct Cursor
        class ring 8-10 | struct ring
        function push 12-17 | static int * push(struct ring *ring, int item)""",
    "till.rb": """module Shop 4-45 | module Shop
        class Shop.Till 8-40 | class Till < Shop::Box
        method Shop.Till.sum 13-17 | def sum(coins, from: 0)
        method Shop.Till.open 19-19 | def self.open(*)
        method Shop.Till.[]= 21-23 | def []=(at, coin)
        method Shop.Till.full? 25-27 | def full?
        method Shop.Till.drawer= 29-29 | def drawer=(box)
        method Shop.Till.clean 31-32 | def clean
        class Shop.Till.Shut 36-36 | class Shut < StandardError
        class Shop.Till.Key 37-39 | Key = Struct.new(:no)
        method Shop.Till.Key.turn 38-38 | def turn
        class Shop.Loud 42-44 | module Loud
        method Shop.Loud.say 43-43 | def say
        module Shop::Till 47-56 | RSpec.describe Shop::Till
        function Shop::Till.till 48-48 | let(:till)
        module Shop::Till.#sum 50-55 | describe '#sum'
        function Shop::Till.#sum.counts all 51-53 | it 'counts all' test
        function Shop::Till.#sum.it 54-54 | it test
        class TillTest 58-60 | class TillTest < Minitest::Test
        method TillTest.test_sum 59-59 | def test_sum""",
    "Order.php": """class Order 12-30 | final class Order extends Paper implements Sent, \\Countable
        method Order.price 20-27 | public function price(array $lines): int
        method Order.kind 29-29 | abstract protected function kind(): string;
        class Sent 32-32 | interface Sent
        method Sent.send 32-32 | public function send();
        class Prints 33-33 | trait Prints
        method Prints.print 33-33 | function print()
        class Size 34-34 | enum Size: string
        function ship 36-36 | function &ship(int $x)
        class OrderTest 38-45 | class OrderTest extends TestCase
        method OrderTest.adds 40-41 | public function adds() test
        method OrderTest.more 43-44 | public function more() test
        function sends all 47-47 | it('sends all') test""",
    "queue.cpp": """module mail 4-31 | namespace mail
        class mail.Queue2 9-19 | template <typename T> class Queue2 final : public Base<T>
        method mail.Queue2.Queue2 13-13 | explicit Queue2(int size) : size_(size)
        method mail.Queue2.~Queue2 14-14 | ~Queue2()
        method mail.Queue2.operator== 15-15 | bool operator==(const Queue2& other) const
        class mail.State 21-21 | enum class State
        method mail.Letter.text 23-23 | const std::string& Letter::text() const
        method mail.Queue2.take 25-28 | template <class T> T Queue2<T>::take(int at)
        function mail.build 30-30 | static Items build()
        method mail.Letter.weight 33-33 | int mail::Letter::weight()
        method LetterTest.Weighs 35-35 | TEST(LetterTest, Weighs) test""",
    "Parcel.cs": """class Parcel 6-22 | public sealed class Parcel<T> : Base<T>, IOpen where T : class
        method Parcel.Count 12-12 | public int Count => items.Count;
        method Parcel.Parcel 14-14 | public Parcel(int x) : base(x)
        method Parcel.Weigh 16-21 | public override int Weigh(int[] items)
        class IOpen 24-24 | interface IOpen
        method IOpen.Open 24-24 | void Open();
        class Stamp 25-25 | public record Stamp(int Price);
        class State 26-26 | enum State
        class ParcelTests 28-33 | public class ParcelTests
        method ParcelTests.Weighs 30-32 | public void Weighs(int x) test""",
}
BESIDE = {
    "cart.js": (["RATE", "weigh"], ["./lib/tax.js", "./lib/cents"]),
    "shape.tsx": (["Field", "LIMITS"], []),
    "stack.go": (["Max"], ["fmt", "example.com/m/util"]),
    "lib.rs": (["LIMIT"], ["other", "crate::other::{helper, Thing}"]),
    "Shop.java": (["MAX"], ["import com.acme.tax.Rate;"]),
    "ring.c": (["SIZE", "count", "declared"], ["ring.h", "stdio.h"]),
    "till.rb": (["COINS", "Key", "drawer", "size", "wipe"], ["json", "../lib/coins", "shop/coin"]),
    "queue.cpp": (["Full", "Items", "kMost", "open"], ["queue.hpp", "vector"]),
    "Parcel.cs": (["Count", "Most", "Size"], ["System", "Post.Tax"]),
    "Order.php": (["LEAST", "made"], ["Shop\\Tax\\Vat", "Line", "Other", "__DIR__ . '/helpers.php"]),
}


def syntax_of(path: str, text: str) -> Syntax:
    grammar = grammar_of(path)
    assert grammar is not None
    return Syntax(grammar, text)


@pytest.mark.parametrize("path", SOURCES)
def test_definitions(path: str) -> None:
    syntax = syntax_of(path, SOURCES[path])
    told = [
        f"{item.kind} {item.qualname} {item.start}-{item.end} | {item.signature}{' test' if item.test else ''}"
        for item in syntax.definitions
    ]
    assert told == [line.strip() for line in FOUND[path].split("\n")]
    assert (sorted(syntax.constants), list(syntax.imports)) == BESIDE[path]
    assert syntax.mistakes == []


def test_methods_of_a_file_of_declarations_are_told_apart_and_overloads_are_not() -> None:
    declared = "export class Command {\n  parse(argv?: string[]): this;\n  name(str: string): this;\n}\n"
    overloaded = "class Command {\n  name(): string;\n  name(text?: string) { return text; }\n}\n"
    for path, text, names in (
        ("typings/index.d.ts", declared, ["Command", "parse", "name"]),
        ("index.ts", overloaded, ["Command", "name"]),
    ):
        assert [each.name for each in syntax_of(path, text).definitions] == names


def test_a_case_of_catch2_is_a_test() -> None:
    (case,) = syntax_of("a.cpp", 'TEST_CASE("adds up", "[cart]") {\n    REQUIRE(1 == 1);\n}\n').definitions
    assert (case.name, case.line, case.end, case.test) == ("adds up", 1, 3, True)


def test_an_exported_class_of_cpp_is_a_class() -> None:
    cart = "class API Cart : public Base {\n public:\n  Cart();\n  int size() { return 1; }\n};\n"
    text = cart + "struct API Line {\n  int a;\n};\n"
    found = syntax_of("a.hpp", text).definitions
    assert [(item.kind, item.qualname, item.line, item.end) for item in found] == [
        ("class", "Cart", 1, 5),
        ("method", "Cart.size", 4, 4),
        ("class", "Line", 6, 8),
    ]
    assert "Base" in found[0].bases


def test_a_text_with_mistakes_is_read_as_far_as_that_goes() -> None:
    syntax = syntax_of("a.js", "function f() { return 1 }\n\nfunction g( {\n")
    assert [item.name for item in syntax.definitions][:1] == ["f"]
    assert syntax.mistakes


# --- places -----------------------------------------------------------------------------------------------------------

FILES = (
    *("js/sum.test.js", "js/src/sum.js", "src/lib.rs", "a.c", "com/acme/Sum.java", "com/other/Sum.java", "s/sum.go"),
    *("lib/cart.rb", "lib/Cart.php", "lib/Cart.cs"),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "        add (/w/p/js/src/sum.js:2:22)\n        TestContext.<anonymous> (/w/p/js/sum.test.js:8:26)\n"
            "        Test.run (node:internal/test_runner/test:796:25)",
            [("js/src/sum.js", 2), ("js/sum.test.js", 8)],
        ),
        ("    at Object.add (file:///w/p/js/src/sum.js:2:22)", [("js/src/sum.js", 2)]),
        ("js/src/sum.js(2,7): error TS2322: no", [("js/src/sum.js", 2)]),
        ("  --> src/lib.rs:12:5\n   |\n12 |     x", [("src/lib.rs", 12)]),
        ("thread 'tests::adds' panicked at src/lib.rs:10:9:\nassertion failed", [("src/lib.rs", 10)]),
        ("   4: m::tests::adds\n             at ./src/lib.rs:10:9", [("src/lib.rs", 10)]),
        (
            "Exception in thread\n\tat com.acme.Sum.add(Sum.java:3)\n\tat com.acme.Sum.main(Sum.java:4)",
            [("com/acme/Sum.java", 3), ("com/acme/Sum.java", 4)],
        ),
        ("a: a.c:3: main: Assertion `add(1, 2) == 3' failed.", [("a.c", 3)]),
        ("a.c:3:49: error: 'x' undeclared", [("a.c", 3)]),
        ("    sum.go:12: got 3, want 4\n\ngoroutine 1:\n\t/w/p/s/sum.go:7 +0x1d", [("s/sum.go", 12), ("s/sum.go", 7)]),
        ("Failure\n     # ./lib/cart.rb:11:in `largest'", [("lib/cart.rb", 11)]),
        ("no items\n\n/w/lib/Cart.php:10\n", [("lib/Cart.php", 10)]),
        ("   at Shop.Cart.Add() in /w/lib/Cart.cs:line 12", [("lib/Cart.cs", 12)]),
        ("version a.c:3x and b/a.c.txt:3", []),
    ],
)
def test_places_in_outputs_of_other_tools(text: str, expected: list[tuple[str, int]]) -> None:
    assert [(place.path, place.line) for place in places_in(text, FILES)] == expected


def test_a_long_line_of_letters_is_looked_through_at_once() -> None:
    assert places_in("/+a." * 100_000, FILES) == ()


# --- choosing ---------------------------------------------------------------------------------------------------------

PROJECTS = {
    "JavaScript": (
        {
            "src/cart.js": "import { tax } from './tax/index.js';\n\nexport function total(x) {\n  return tax(x);\n}\n",
            "src/tax/index.js": "import { round } from './round';\nexport function tax(x) {\n  return round(x);\n}\n",
            "src/tax/round.ts": "export function other() {}\nexport function round(x: number) {\n  return x;\n}\n",
            "src/far.js": "export function far() {\n  return 1;\n}\n",
            "test/cart.test.js": 'import { total } from "../src/cart";\ntest("adds", () => {\n  total(1);\n});\n',
        },
        "    at Object.<anonymous> (/w/test/cart.test.js:3:3)",
        ("test/cart.test.js", 2),
        ("src/tax/round.ts", 2),
    ),
    "Go": (
        {
            "cart/cart.go": 'package cart\n\nimport "m/tax"\n\nfunc Total(x int) int {\n\treturn tax.Rate(x)\n}\n',
            "tax/tax.go": "package tax\n\nfunc Rate(x int) int { return round(x) }\n",
            "tax/round.go": "package tax\n\nfunc other() {}\n\nfunc round(x int) int { return x }\n",
            "cart/cart_test.go": "package cart\n\nfunc TestTotal(t *testing.T) {\n\tTotal(1)\n}\n",
        },
        "--- FAIL: TestTotal (0.00s)\n    cart_test.go:4: got 1",
        ("cart/cart_test.go", 3),
        ("tax/round.go", 5),
    ),
    "Rust": (
        {
            "src/lib.rs": "mod tax;\nuse crate::tax::rate;\n\npub fn total(x: i32) -> i32 { rate(x) }\n\n"
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        total(1);\n    }\n}\n",
            "src/tax/mod.rs": "mod round;\nuse self::round::round;\npub fn rate(x: i32) -> i32 { round(x) }\n",
            "src/tax/round.rs": "fn other() {}\npub fn round(x: i32) -> i32 { x }\n",
        },
        "thread 'tests::adds' panicked at src/lib.rs:10:9:",
        ("src/lib.rs", 9),
        ("src/tax/round.rs", 2),
    ),
    "Java": (
        {
            "src/main/java/shop/Cart.java": "package shop;\nimport shop.tax.Tax;\nclass Cart extends Base {\n"
            "  int total(int x) { return Tax.rate(x); }\n}\n",
            "src/main/java/shop/tax/Tax.java": "package shop.tax;\npublic class Tax {\n"
            "  static int rate(int x) { return Round.round(x); }\n}\n",
            "src/main/java/shop/tax/Round.java": "package shop.tax;\nclass Round {\n  static void other() {}\n"
            "  static int round(int x) { return x; }\n}\n",
            "src/test/java/shop/CartTest.java": "package shop;\nclass CartTest {\n  @Test\n  void addsUp() {\n"
            "    new Cart().total(1);\n  }\n}\n",
        },
        "\tat shop.CartTest.addsUp(CartTest.java:5)",
        ("src/test/java/shop/CartTest.java", 4),
        ("src/main/java/shop/tax/Round.java", 4),
    ),
    "C": (
        {
            "cart.c": '#include "tax/tax.h"\n\nint total(int x)\n{\n    return tax_of(x);\n}\n',
            "tax/tax.h": "int tax_of(int x);\n",
            "tax/tax.c": '#include "tax.h"\n#include "round.h"\nint tax_of(int x) { return round_up(x); }\n',
            "tax/round.c": "int other(void) { return 0; }\nint round_up(int x) { return x; }\n",
            "tests/test_cart.c": "void test_total(void)\n{\n    assert(total(1) == 1);\n}\n",
        },
        "test_cart: tests/test_cart.c:3: test_total: Assertion `total(1) == 1' failed.",
        ("tests/test_cart.c", 1),
        ("tax/round.c", 2),
    ),
    "Ruby": (
        {
            "lib/shop/cart.rb": "require 'shop/tax'\nmodule Shop\n  class Cart\n    def total(x)\n"
            "      Tax.due?(x)\n    end\n  end\nend\n",
            "lib/shop/tax.rb": "require_relative 'tax/round'\nmodule Shop\n  module Tax\n    def self.due?(x)\n"
            "      rounded!(x)\n    end\n  end\nend\n",
            "lib/shop/tax/round.rb": "def other\nend\n\ndef rounded!(x)\n  x\nend\n",
            "spec/shop/cart_spec.rb": "require 'shop/cart'\nRSpec.describe Shop::Cart do\n  it 'adds' do\n"
            "    expect(Shop::Cart.new.total(1)).to eq 1\n  end\nend\n",
        },
        "     Failure/Error: x\n     # ./spec/shop/cart_spec.rb:4:in `block (2 levels) in <top (required)>'",
        ("spec/shop/cart_spec.rb", 3),
        ("lib/shop/tax/round.rb", 4),
    ),
    "PHP": (
        {
            "src/Cart.php": "<?php\nnamespace Shop;\nuse Shop\\Tax\\Tax;\nclass Cart extends Base {\n"
            "  function total($x) { return Tax::rate($x); }\n}\n",
            "src/Tax/Tax.php": "<?php\nnamespace Shop\\Tax;\nclass Tax {\n"
            "  static function rate($x) { return Round::up($x); }\n}\n",
            "src/Tax/Round.php": "<?php\nnamespace Shop\\Tax;\nclass Round {\n  static function other() {}\n"
            "  static function rounded($x) { return $x; }\n  static function up($x) { return self::rounded($x); }\n}\n",
            "tests/CartTest.php": "<?php\nnamespace Shop;\nclass CartTest extends TestCase {\n"
            "  function testTotal() {\n    $this->assertSame(1, (new Cart())->total(1));\n  }\n}\n",
        },
        "1) Shop\\CartTest::testTotal\nFailed asserting that 2 is identical to 1.\n\n/w/tests/CartTest.php:5\n",
        ("tests/CartTest.php", 4),
        ("src/Tax/Round.php", 5),
    ),
    "C++": (
        {
            "src/cart.h": "class Cart : public Base {\n public:\n  int total(int x);\n};\n",
            "src/cart.cpp": '#include "cart.h"\n#include "tax/tax.hpp"\nint Cart::total(int x) { return tax(x); }\n',
            "src/tax/tax.hpp": "int tax(int x);\n",
            "src/tax/tax.cpp": '#include "tax.hpp"\n#include "round.h"\nint tax(int x) { return round_up(x); }\n',
            "src/tax/round.cpp": "int other() { return 0; }\nint round_up(int x) { return x; }\n",
            "tests/cart_test.cpp": '#include "../src/cart.h"\nTEST(CartTest, Total) {\n'
            "  EXPECT_EQ(1, Cart().total(1));\n}\n",
        },
        "/w/tests/cart_test.cpp:3: Failure\nExpected equality of these values:",
        ("tests/cart_test.cpp", 2),
        ("src/tax/round.cpp", 2),
    ),
    "C#": (
        {
            "src/Cart.cs": "using Shop.Tax;\nnamespace Shop {\n  class Cart : Base {\n"
            "    int Total(int x) { return Tax.Rate(x); }\n  }\n}\n",
            "src/Tax/Tax.cs": "namespace Shop.Tax;\nclass Tax {\n  static int Rate(int x) => Round.Up(x);\n}\n",
            "src/Tax/Round.cs": "namespace Shop.Tax;\nclass Round {\n  static void Other() {}\n"
            "  static int Up2(int x) => x;\n  static int Up(int x) => Round.Up2(x);\n}\n",
            "tests/CartTests.cs": "namespace Shop;\npublic class CartTests {\n  [Fact]\n  public void AddsUp() {\n"
            "    Assert.Equal(1, new Cart().Total(1));\n  }\n}\n",
        },
        "  Failed Shop.CartTests.AddsUp\n   at Shop.CartTests.AddsUp() in /w/tests/CartTests.cs:line 5",
        ("tests/CartTests.cs", 4),
        ("src/Tax/Round.cs", 4),
    ),
}


@pytest.mark.parametrize("language", PROJECTS)
def test_a_failing_line_leads_to_its_test_and_to_what_that_calls(language: str, tmp_path: Path) -> None:
    files, failure, test, function = PROJECTS[language]
    workspace = Workspace.open(fill(tmp_path, files))
    index = RepositoryIndex(workspace, max_files=100)
    selection = select(index, workspace.list_files(), Clues(task="mend it", named=(), failure=failure))
    needed = [(want.path, want.line) for want in selection.wants if want.need == "needed"]
    assert test in needed
    assert function in needed


def test_titles_of_tests_leave_words_to_what_they_are_about(tmp_path: Path) -> None:
    """A title is a sentence, and thirty of them say each word of a task: the one function that it means came last."""
    ways = "".join(f"  way{n}(x) {{ return helper(x, {n}); }}\n\n" for n in range(30))
    title = "it('when the option is set by env then env value {0} wins', () => {{ way{0}({0}); }});\n"
    files = {
        "lib/command.js": f"class Command {{\n{ways}  _parseOptionsEnv() {{ return 1; }}\n}}\n",
        "tests/options.env.test.js": "".join(title.format(n) for n in range(30)),
    }
    workspace = Workspace.open(fill(tmp_path, files))
    clues = Clues(task="who wins when an option is set by env and on the command line?", guessed=["lib/command.js"])
    selection = select(RepositoryIndex(workspace, max_files=9), workspace.list_files(), clues)
    lines = [want.line for want in selection.wants if want.path == "lib/command.js" and want.line]
    assert lines[0] == 62, "_parseOptionsEnv"


def test_what_a_method_sets_leads_to_who_reads_it(tmp_path: Path) -> None:
    """`combine()` keeps its value in `_combine`: the one function that was wrong reads that, and was not shown."""
    ways = "".join(f"  way{n}(x) {{ return this.way{n + 1}(x); }}\n" for n in range(30))
    text = f"class A {{\n  combine(on) {{ this._combine = on; }}\n{ways}  last() {{ return this._combine; }}\n}}\n"
    workspace = Workspace.open(fill(tmp_path, {"command.js": text}))
    selection = select(RepositoryIndex(workspace, max_files=9), workspace.list_files(), Clues(task="combine() is lost"))
    assert [want.line for want in selection.wants if want.line][:2] == [2, 33]


def test_what_a_task_calls_by_name(tmp_path: Path) -> None:
    workspace = Workspace.open(fill(tmp_path, SOURCES))
    index = RepositoryIndex(workspace, max_files=100)
    selection = select(index, workspace.list_files(), Clues(task="why does `Stack.Push` fail?", named=()))
    assert (selection.wants[0].path, selection.wants[0].line) == ("stack.go", 17)


# --- showing ----------------------------------------------------------------------------------------------------------


def long_class(count: int) -> str:
    methods = "".join(
        f"\n    /** No {n}. */\n    int method{n}(int x) {{\n        return x + {n};\n    }}\n" for n in range(count)
    )
    head = "package com.acme;\n\nimport java.util.List;\n\npublic class Long extends Base {\n    int field;\n"
    return f"{head}{methods}}}\n"


def test_a_method_is_shown_whole_with_the_head_of_its_class_and_imports() -> None:
    (excerpt,) = fit(
        {"Long.java": long_class(60)}, budget_chars=1200, wants=[Want(path="Long.java", line=7 + 5 * 30 + 2)]
    )
    assert "    /** No 30. */\n    int method30(int x) {\n        return x + 30;\n    }\n" in excerpt.text
    assert "import java.util.List;" in excerpt.text
    assert "public class Long extends Base {\n    int field;\n" in excerpt.text
    assert "method29(int" not in excerpt.text


def test_the_struct_of_a_method_is_shown_with_it() -> None:
    filler = "".join(f"\nfunc filler{n}() int {{\n\treturn {n}\n}}\n" for n in range(60))
    text = f"package m\n\ntype T struct {{\n\tsize int\n}}\n{filler}\nfunc (t T) Last() int {{\n\treturn t.size\n}}\n"
    (excerpt,) = fit({"t.go": text}, budget_chars=700, wants=[Want(path="t.go", line=text.count("\n") - 1)])
    assert "func (t T) Last() int {\n\treturn t.size\n}" in excerpt.text
    assert "type T struct {\n\tsize int\n}" in excerpt.text
    assert "return 30" not in excerpt.text


def test_an_outline_tells_signatures() -> None:
    outline = outline_of(["stack.go"], list(SOURCES), SOURCES.get)
    assert outline.text(budget_chars=400, shown=()).startswith(
        "stack.go\n  type Stack[T any] struct\n    func (s *Stack[T]) Push(item T) error\n  func New() int\n"
    )


# --- tools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Cart.total", ["cart.js:9: total(items) {"]),
        ("Queue", ["lib.rs:6: pub struct Queue<T> {", "lib.rs:10: impl<T> Queue<T> {"]),
        ("push", ["lib.rs:13: pub fn push(&mut self, item: T) {", "ring.c:13: static int *"]),
        ("MAX", ["Shop.java:7:     static final int MAX = 3;"]),
        ("Shop::Till#[]=", ["till.rb:21: def []=(at, coin)"]),
        ("full?", ["till.rb:25: def full?"]),
        ("wipe", ["till.rb:33:     alias_method :wipe, :clean"]),
        ("mail::Letter::text", ["queue.cpp:23: const std::string& Letter::text() const { return text_; }"]),
        ("\\Shop\\Orders\\Order->price", ["Order.php:24: public function price(array $lines): int"]),
        ("Count", ["Parcel.cs:12: public int Count => items.Count;"]),
        ("Order::price", ["Order.php:24: public function price(array $lines): int"]),
        ("adds up", None),
    ],
)
def test_find_definition(name: str, expected: list[str] | None, tmp_path: Path) -> None:
    found = toolbox_on(fill(tmp_path, SOURCES)).call("find_definition", {"name": name})
    assert found.code == ("invalid" if expected is None else "ok")
    if expected is not None:
        assert found.text.split("\n") == expected


def test_usages_are_those_in_code_of_all_files_of_the_language(tmp_path: Path) -> None:
    files = {
        "a.ts": "export function total(x: number) { return x; }\n// total\nconst s = 'total';\n",
        "b.js": "import { total } from './a';\nobject.total();\ntotals();\n",
        "c.py": "total = 1\n",
    }
    found = toolbox_on(fill(tmp_path, files)).call("find_usages", {"path": "a.ts", "name": "total"})
    assert [(place["path"], place["line"], place["kind"]) for place in found.data["places"]] == [
        ("a.ts", 1, "definition"),
        ("b.js", 1, "usage"),
        ("b.js", 2, "usage"),
    ]


def test_usages_of_a_name_with_a_sign(tmp_path: Path) -> None:
    files = {
        "a.rb": "class Till\n  def full?\n    false\n  end\nend\n# full?\n",
        "b.rb": "puts 'full?' if till.full?\ntill.send(:full?)\n",
    }
    found = toolbox_on(fill(tmp_path, files)).call("find_usages", {"path": "a.rb", "name": "Till#full?"})
    assert [(place["path"], place["line"]) for place in found.data["places"]] == [("a.rb", 2), ("b.rb", 1), ("b.rb", 2)]


EDITS = [
    ("cart.js", "replace_function", {"name": "weigh"}, "const weigh = (x) => {\n  return 2 * x;\n};",
     "export const weigh = async (x) => x;\n", "export const weigh = (x) => {\n  return 2 * x;\n};\n"),
    ("cart.js", "replace_function", {"name": "pack"}, "pack(x) {\n  return x;\n}",
     "  pack() {},\n", "  pack(x) {\n    return x;\n  },\n"),
    ("cart.js", "replace_method", {"class_name": "Cart", "method_name": "total"}, "total(items) {\n    return 0;\n  }",
     "    return items.map((item) => tax(item));\n", "    return 0;\n"),
    ("shape.tsx", "replace_class", {"name": "Colour"}, "enum Colour { Red, Blue }",
     "enum Colour { Red }", "enum Colour { Red, Blue }"),
    ("stack.go", "replace_method", {"class_name": "Stack", "method_name": "Push"},
     "func (s *Stack[T]) Push(item T) error {\n\treturn nil\n}", "return s.grow()", "return nil"),
    ("lib.rs", "replace_method", {"class_name": "Queue", "method_name": "push"},
     "```rust\npub fn push(&mut self, item: T) {\n    self.items.push(item);\n}\n```",
     "self.grow();", "self.items.push(item);"),
    ("Shop.java", "replace_method", {"class_name": "Shop", "method_name": "total"},
     "@Override\npublic int total(int x) {\n    return x;\n}", "return this.sum(x);", "return x;"),
    ("ring.c", "replace_function", {"name": "push"},
     "/* Adds one, or none. */\nstatic int *\npush(struct ring *ring, int item)\n{\n    return &ring->items[0];\n}",
     "/* Adds one. */\nstatic int *\npush(struct ring *ring, int item)\n{\n    return 0;",
     "/* Adds one, or none. */\nstatic int *\npush(struct ring *ring, int item)\n{\n    return &ring->items[0];"),
    ("Shop.java", "inject_function", {"name": "close", "class_name": "Shop"}, "void close() {\n}",
     "    record Line(int price) {}\n}\n", "    record Line(int price) {}\n\n    void close() {\n    }\n}\n"),
    ("stack.go", "inject_function", {"name": "Pop", "class_name": "Stack", "after": "Push"},
     "func (s *Stack[T]) Pop() {}", "\nfunc New()", "\nfunc (s *Stack[T]) Pop() {}\n\nfunc New()"),
    ("lib.rs", "inject_function", {"name": "pop", "class_name": "Queue"}, "pub fn pop(&mut self) {}",
     "        self.grow();\n    }\n}\n", "        self.grow();\n    }\n\n    pub fn pop(&mut self) {}\n}\n"),
    ("ring.c", "inject_function", {"name": "pop"}, "int pop(void)\n{\n    return 1;\n}",
     "static int count = 1;\n", "static int count = 1;\n\nint pop(void)\n{\n    return 1;\n}\n"),
    ("ring.c", "inject_function", {}, "int pop(void)\n{\n    return 1;\n}",
     "static int count = 1;\n", "static int count = 1;\n\nint pop(void)\n{\n    return 1;\n}\n"),
    ("Shop.java", "inject_function", {"class_name": "Shop"}, "void close() {\n}",
     "    record Line(int price) {}\n}\n", "    record Line(int price) {}\n\n    void close() {\n    }\n}\n"),
    ("till.rb", "replace_method", {"class_name": "Shop::Till", "method_name": "[]="},
     "def []=(at, coin)\n  @drawer.put(at, coin)\nend", "@drawer[at] = coin", "@drawer.put(at, coin)"),
    ("till.rb", "replace_method", {"class_name": "Till", "method_name": "clean"}, "def clean\n  drawer.clear\nend",
     "    private def clean\n    end\n", "    private def clean\n      drawer.clear\n    end\n"),
    ("till.rb", "replace_method", {"class_name": "Till", "method_name": "sum"},
     "# The sum.\ndef sum(coins, from: 0)\n  from\nend",
     "    # How much.\n    def sum(coins, from: 0)\n      # all of them\n"
     "      coins.sum(from) { |coin| worth(coin) }\n",
     "    # The sum.\n    def sum(coins, from: 0)\n      from\n"),
    ("till.rb", "inject_function", {"name": "shout", "class_name": "Loud"}, "def shout\n  say.upcase\nend",
     "    def say; end\n", "    def say; end\n\n    def shout\n      say.upcase\n    end\n"),
    ("Order.php", "replace_method", {"class_name": "Order", "method_name": "price"},
     "public function price(array $lines): int\n{\n    return 0;\n}", "return $this->add($lines);", "return 0;"),
    ("Order.php", "inject_function", {"name": "drop", "class_name": "Order"}, "public function drop() {}",
     "function kind(): string;\n", "function kind(): string;\n\n    public function drop() {}\n"),
    ("queue.cpp", "replace_method", {"class_name": "Letter", "method_name": "text"},
     "const std::string& Letter::text() const {\n    return kNone;\n}",
     "text() const { return text_; }", "text() const {\n    return kNone;\n}"),
    ("queue.cpp", "replace_method", {"class_name": "mail::Queue2", "method_name": "take"},
     "template <class T>\nT Queue2<T>::take(int at) {\n    return 0;\n}", "return items_[at];", "return 0;"),
    ("queue.cpp", "inject_function", {"name": "drop", "class_name": "Queue2"}, "void drop() {}",
     "    int size_;\n", "    int size_;\n\n    void drop() {}\n"),
    ("queue.cpp", "inject_function", {"name": "seal", "class_name": "Letter", "after": "weight"},
     "void mail::Letter::seal() {}", "return 2; }\n", "return 2; }\n\nvoid mail::Letter::seal() {}\n"),
    ("Parcel.cs", "replace_method", {"class_name": "Parcel", "method_name": "Weigh"},
     "public override int Weigh(int[] items)\n{\n    return 0;\n}", "return this.Sum(items);", "return 0;"),
    ("Parcel.cs", "replace_method", {"class_name": "ParcelTests", "method_name": "Weighs"},
     "[Theory]\n[InlineData(2)]\npublic void Weighs(int x) { }", "[InlineData(1)]", "[InlineData(2)]"),
    ("Parcel.cs", "inject_function", {"name": "Drop", "class_name": "Parcel"}, "public void Drop() { }",
     "        return this.Sum(items);\n    }\n",
     "        return this.Sum(items);\n    }\n\n    public void Drop() { }\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "tool", "arguments", "code", "old", "new"), EDITS)
def test_one_definition_is_edited(
    path: str, tool: str, arguments: dict[str, str], code: str, old: str, new: str, tmp_path: Path
) -> None:
    done = toolbox_on(fill(tmp_path, SOURCES)).call(tool, {"path": path, "code": code, **arguments})
    assert (done.code, done.changed_files) == ("ok", (path,)), done.text
    assert (tmp_path / path).read_text() == SOURCES[path].replace(old, new, 1)


@pytest.mark.parametrize(
    ("path", "tool", "arguments", "code", "message"),
    [
        ("cart.js", "weigh", {}, "const weigh = (x) => {", "cart.js would be no valid code"),
        ("cart.js", "weigh", {}, "const measure = (x) => x;", "does not define weigh"),
        ("cart.js", "total", {}, "total() {}", "total is a method of Cart"),
        ("stack.go", "Old", {}, "func Old() {}", "no function named Old in stack.go; it has: New, TestPush"),
        ("stack.go", "Stack.Push", {}, "func (s *Stack[T]) Pull() {}", "does not define Stack.Push"),
    ],
)
def test_refused_edits_change_nothing(
    path: str, tool: str, arguments: dict[str, str], code: str, message: str, tmp_path: Path
) -> None:
    done = toolbox_on(fill(tmp_path, SOURCES)).call("replace_function", {"path": path, "name": tool, "code": code})
    assert not done.ok
    assert message in done.text
    assert (tmp_path / path).read_text() == SOURCES[path]


def test_of_several_the_one_with_the_same_head_is_meant(tmp_path: Path) -> None:
    text = "class A {\n  int f(int x) {\n    return x;\n  }\n  int f(String x) {\n    return 2;\n  }\n}\n"
    toolbox = toolbox_on(fill(tmp_path, {"A.java": text}))
    edit = {"path": "A.java", "class_name": "A", "method_name": "f"}
    done = toolbox.call("replace_method", {**edit, "code": "int f(String x) {\n  return 3;\n}"})
    assert done.ok, done.text
    assert (tmp_path / "A.java").read_text() == text.replace("return 2", "return 3")
    assert toolbox.call("replace_method", {**edit, "code": "int f(long x) { return 4; }"}).code == "many_matches"


def test_a_definition_that_shares_a_line_is_left_alone(tmp_path: Path) -> None:
    toolbox = toolbox_on(fill(tmp_path, {"a.js": "class A { f() { return 1; } g() {} }\n"}))
    code = {"path": "a.js", "class_name": "A", "method_name": "f", "code": "f() { return 2; }"}
    assert "shares a line" in toolbox.call("replace_method", code).text
