import pytest
from assembler import AssemblyError, assemble, symbols


def wrong(source):
    """The line that is told to be wrong."""
    with pytest.raises(AssemblyError) as told:
        assemble(source)
    with pytest.raises(AssemblyError):
        symbols(source)
    return told.value.line


def test_nothing():
    assert assemble("") == b""
    assert assemble("  ; only a comment\n\n\t\n") == b""


def test_plain_instructions():
    assert assemble("nop\nHALT ; the end\n Ret") == bytes([0x00, 0x01, 0x02])


def test_registers():
    assert assemble("push a\npop X\ninc y") == bytes([0x10, 0x16, 0x1B])
    assert assemble("add b, y\ncmp y,a") == bytes([0x40 + 1 + 12, 0x60 + 3])


def test_immediate_values():
    assert assemble("load a, #12\nload b,#$1f\nadd x, #%101\ncmp y, #-1") == bytes(
        [0x20, 12, 0x21, 0x1F, 0x52, 5, 0x73, 255]
    )


def test_characters():
    assert assemble("load a, #'A'\nload a, #';' ; a semicolon\nload a, #','\nload a, #' '") == bytes(
        [0x20, 65, 0x20, 59, 0x20, 44, 0x20, 32]
    )


def test_memory_and_index():
    assert assemble("load b, $40\nstore a, 7\nload a, [x]\nload y, [Y+3]\nstore b, [x + 2 + 1]") == bytes(
        [0x25, 0x40, 0x2C, 7, 0x28, 0, 0x2B, 0x83, 0x31, 3]
    )


def test_index_with_a_negative_constant():
    assert assemble(".const back = -4\nload a, [y-back]") == bytes([0x28, 0x84])
    assert wrong("load a, [y-1]") == 1
    assert wrong("nop\nload a, [x+128]") == 2


def test_labels_before_and_after():
    source = "start: jump end\nloop: nop\n jump loop\nend:\n call start + 1"
    assert assemble(source) == bytes([0x80, 5, 0x00, 0x80, 2, 0x81, 1])


def test_distances():
    assert assemble("here: jz here\njc there\nnop\nthere: halt") == bytes([0x82, 0xFE, 0x83, 1, 0, 1])
    assert assemble("jz * + 2") == bytes([0x82, 0])


def test_distances_have_a_range():
    assert assemble(".org 126\njz 0")[126:] == bytes([0x82, 0x80])
    assert wrong(".org 127\njz 0") == 2
    assert assemble("jz 129") == bytes([0x82, 127])
    assert wrong("jz 130") == 1


def test_cases():
    assert symbols("Loop: nop\nloop: nop") == {"Loop": 0, "loop": 1}
    assert wrong("Loop: nop\njump LOOP") == 2
    assert wrong("X: nop") == 1
    assert wrong(".const Y = 1") == 1


def test_constants():
    source = ".const size = 3\n.const twice = size+size\n.const big = 1000\nload a, #twice - 1\n.byte big-999"
    assert assemble(source) == bytes([0x20, 5, 1])
    assert list(symbols(source).items()) == [("size", 3), ("twice", 6), ("big", 1000)]


def test_constants_know_only_what_is_above():
    assert wrong(".const one = end\nend: halt") == 1
    assert assemble("end: halt\n.const one = end+1\n.byte one") == bytes([1, 1])
    assert wrong("l: .const one = 1") == 1


def test_bytes_and_star():
    assert assemble("nop\n.byte 1, -128, 255, *, '*', end\nend:") == bytes([0, 1, 128, 255, 1, 42, 7])
    assert wrong(".byte") == 1
    assert wrong(".byte 1,,2") == 1
    assert wrong(".byte 256") == 1
    assert wrong(".byte -129") == 1


def test_texts():
    assert assemble('.text "a;b, c" ; said') == b"a;b, c\0"
    assert assemble(r'.TEXT "say \"hi\"\n\\"') == b'say "hi"\n\\\0'
    assert assemble('.text ""') == b"\0"
    assert wrong(r'.text "\t"') == 1
    assert wrong('.text "é"') == 1
    assert wrong('.text "a') == 1


def test_gaps():
    assert assemble("nop\nl: .org 4\nhalt\n.org 9") == bytes([0, 0, 0, 0, 1])
    assert symbols("nop\nl: .org 4\nhalt") == {"l": 4}
    assert assemble(".org 2\n.org 2\nhalt") == bytes([0, 0, 1])
    assert wrong("nop\nnop\n.org 1") == 3
    assert wrong(".org end\nend: halt") == 1


def test_align():
    assert assemble("nop\n.align 4\nhalt\nm: .align 3\nret") == bytes([0, 0, 0, 0, 1, 0, 2])
    assert symbols("nop\nm: .align 4\n.align 4\nn:") == {"m": 4, "n": 4}
    assert wrong(".align 0") == 1


def test_the_end_of_memory():
    assert len(assemble(".org 255\nhalt\nend:")) == 256
    assert symbols(".org 255\nhalt\nend:") == {"end": 256}
    assert wrong(".org 255\nhalt\nend:\njump end") == 4
    assert wrong(".org 254\nnop\n.byte 1, 2") == 3
    assert wrong(".org 255\nl: jump 0") == 2
    assert wrong(".org 257") == 1


def test_a_use_out_of_range_is_told_where_it_is_used():
    assert wrong(".const big = 300\nnop\njump big") == 3
    assert wrong("load a, #end\n.org 250\nend: halt\n.const far = end+6\nload a, #far") == 5


@pytest.mark.parametrize(
    "line",
    ["frob a", "load", "load a", "push #1", "nop a", "load a, b", "jump [x]", ".word 1", "a b: nop", "1st: nop"],
)
def test_wrong_forms(line):
    assert wrong(f"nop\n{line}") == 2


@pytest.mark.parametrize("value", ["$", "%2", "12a", "1 2", "1+", "+", "''", "'ab'", "'é'", "nobody", "--1", "$G"])
def test_wrong_values(value):
    assert wrong(f"nop\n\n.byte {value}") == 3


def test_defined_twice():
    assert wrong("a1: nop\n.const b1 = 1\na1: nop") == 3
    assert wrong("a1: nop\n.const a1 = 1") == 2


def test_the_first_wrong_line_is_told():
    assert wrong("jump nowhere\nfrob") == 1
    assert wrong(".byte later\n.org 200\nlater: nop\nlater: nop\nload a, #300") == 4
    assert wrong("nop\n.byte 500\n.org 0") == 2
