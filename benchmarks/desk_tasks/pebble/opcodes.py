"""The instructions of the Pebble, an 8-bit machine with 256 bytes of memory."""

REGISTERS = {"a": 0, "b": 1, "x": 2, "y": 3}

OPCODES = {
    ("nop", ""): 0x00,
    ("halt", ""): 0x01,
    ("ret", ""): 0x02,
    ("push", "r"): 0x10,
    ("pop", "r"): 0x14,
    ("inc", "r"): 0x18,
    ("load", "r#"): 0x20,
    ("load", "rm"): 0x24,
    ("load", "ri"): 0x28,
    ("store", "rm"): 0x2C,
    ("store", "ri"): 0x30,
    ("add", "rr"): 0x40,
    ("add", "r#"): 0x50,
    ("cmp", "rr"): 0x60,
    ("cmp", "r#"): 0x70,
    ("jump", "m"): 0x80,
    ("call", "m"): 0x81,
    ("jz", "o"): 0x82,
    ("jc", "o"): 0x83,
}
"""The first byte by name and forms of the operands; TASK.md says what the forms are."""
