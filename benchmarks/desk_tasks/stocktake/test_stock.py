from decimal import Decimal

import pytest
from stock import Change, compare, read, report


def test_read_adds_up_in_base_units():
    text = "# a list\nFlour  405 | A17 | r1 | 2.5 kg\n\neggs||C2|3 doz\n flour 405|A17|R1 |300 g\n"
    assert read(text) == {("flour 405", "A17", "R1"): (Decimal(2800), "g"), ("eggs", "", "C2"): (Decimal(36), "pc")}


def test_read_keeps_the_order_and_leaves_zeros_out():
    text = "b||P|1 pc\na||P|0 pc\nc||P|0 l\na||Q|2 pc\nb||P|1 pc"
    assert list(read(text)) == [("b", "", "P"), ("a", "", "Q")]


def test_lots_have_their_case():
    assert len(read("a|x|P|1 pc\na|X|P|1 pc")) == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a||P", 1),
        ("\na||P|1 pc|", 2),
        ("a||P|1 pc\n||P|1 pc", 2),
        ("# x\n\na|| |1 pc", 3),
        ("a||P|1 box", 1),
        ("a||P|one pc", 1),
        ("a||P|-1 pc", 1),
        ("a||P|1 pc\nb||P|1 g\nA|x|Q|1 kg", 3),
        ("a||P|0 pc\na||P|1 g", 2),
    ],
)
def test_lists_that_are_wrong(text, line):
    with pytest.raises(ValueError, match=f"line {line}\\b"):
        read(text)


def test_nothing_changed():
    assert compare("a||P|1 doz", "A | | p | 12 pc") == []
    assert report([]) == "nothing changed\n"


def test_moves():
    assert compare("a|L|P|10 pc", "a|L|Q|4 pc\na|L|P|6 pc") == [Change("moved", "a", "L", Decimal(4), "pc", "P", "Q")]


def test_moves_fill_one_target_after_the_other():
    changes = compare("a||P2|5 pc\na||P1|3 pc", "a||Q2|6 pc\na||Q1|2 pc")
    assert [(c.source, c.target, c.amount) for c in changes] == [("P1", "Q1", 2), ("P1", "Q2", 1), ("P2", "Q2", 5)]
    assert {c.kind for c in changes} == {"moved"}


def test_lots_do_not_move_into_each_other():
    assert [c.kind for c in compare("a|L|P|5 pc", "a|M|Q|5 pc")] == ["lost", "gained"]


def test_relabelled():
    assert compare("a|L|P|5 pc", "a|M|P|5 pc") == [Change("relabelled", "a", "M", Decimal(5), "pc", "L", "P")]
    assert compare("a||P|5 pc", "a|M|P|5 pc") == [Change("relabelled", "a", "M", Decimal(5), "pc", "", "P")]


def test_moves_come_before_labels():
    # 3 of L went to Q; of the other 2 the label was changed, and 1 of M is new
    changes = compare("a|L|P|5 pc", "a|L|Q|3 pc\na|M|P|3 pc")
    assert [(c.kind, c.lot, c.amount, c.source, c.target) for c in changes] == [
        ("moved", "L", 3, "P", "Q"),
        ("relabelled", "M", 2, "L", "P"),
        ("gained", "M", 1, "", "P"),
    ]


def test_labels_by_place_then_old_then_new_lot():
    changes = compare("a|L|P|2 pc\na|K|P|2 pc\na|K|A|1 pc", "a|N|P|1 pc\na|M|P|3 pc\na|Z|A|1 pc")
    assert [(c.source, c.lot, c.target, c.amount) for c in changes] == [
        ("K", "Z", "A", 1),
        ("K", "M", "P", 2),
        ("L", "M", "P", 1),
        ("L", "N", "P", 1),
    ]


def test_lost_and_gained_by_lot_and_place():
    changes = compare("a|B|P|2 pc\na|A|Q|1 pc\na|A|P|1 pc", "a|Aa|R|7 pc")
    assert [(c.kind, c.lot, c.source or c.target, c.amount) for c in changes] == [
        ("lost", "A", "P", 1),
        ("lost", "A", "Q", 1),
        ("gained", "Aa", "R", 7),
        ("lost", "B", "P", 2),
    ]


def test_articles_in_order():
    changes = compare("b||P|2 pc\nc||P|1 pc", "a||P|1 pc\nb||P|1 pc")
    assert [(c.kind, c.article) for c in changes] == [("gained", "a"), ("lost", "b"), ("lost", "c")]


def test_shrinkage_is_not_told():
    assert compare("oil||T1|6 l\noil|x|T2|4 l", "oil||T1|5.96 l\noil|x|T2|3940 ml") == []
    changes = compare("oil||T1|6 l\noil|x|T2|4 l", "oil||T1|5.96 l\noil|x|T2|3939 ml")
    assert [(c.kind, c.amount) for c in changes] == [("lost", 40), ("lost", 61)]


def test_shrinkage_counts_only_what_is_lost():
    changes = compare("oil||T1|10 l", "oil||T2|9.9 l")
    assert [(c.kind, c.amount) for c in changes] == [("moved", 9900)]


def test_shrinkage_hides_no_gain():
    changes = compare("oil|x|T1|10 l", "oil|x|T1|9.95 l\noil|y|T2|20 ml")
    assert [(c.kind, c.amount) for c in changes] == [("gained", 20)]


def test_pieces_do_not_shrink():
    assert [c.kind for c in compare("a||P|1000 pc", "a||P|999 pc")] == ["lost"]


def test_units_must_agree_in_both_lists():
    with pytest.raises(ValueError, match="salt"):
        compare("salt||P|1 kg", "pepper||P|1 g\nSalt||P|3 pc")


def test_wrong_lists_are_not_compared():
    with pytest.raises(ValueError, match="line 2"):
        compare("a||P|1 pc", "a||P|1 pc\na")


def test_a_report():
    changes = compare(
        "flour 405|A17|R1-03|2.5 kg\neggs||C2|2 doz\neggs||C1|3 pc", "flour 405|A17|R2-01|1.5 kg\nflour 405|A18|R1-03|1 kg"
    )
    assert report(changes) == (
        "lost eggs: 3 pc from C1\n"
        "  24 pc from C2\n"
        "moved flour 405 [A17]: 1500 g from R1-03 to R2-01\n"
        "relabelled flour 405 [A18]: 1000 g at R1-03, was [A17]\n"
    )


def test_a_report_with_empty_lots():
    assert report(compare("a||P|1 pc\nb|x|Q|1 pc", "a|M|P|1 pc\nb||Q|1 pc")) == (
        "relabelled a [M]: 1 pc at P, was unlabelled\nrelabelled b: 1 pc at Q, was [x]\n"
    )


def test_a_report_shortens_no_labels_and_no_other_lots():
    changes = [
        Change("relabelled", "a", "M", Decimal(1), "pc", "L", "P"),
        Change("relabelled", "a", "M", Decimal(2), "pc", "L", "Q"),
        Change("gained", "a", "M", Decimal("0.5"), "g", "", "P"),
        Change("gained", "a", "N", Decimal(100), "g", "", "P"),
        Change("gained", "a", "N", Decimal(2), "g", "", "Q"),
        Change("gained", "a", "N", Decimal(3), "g", "", "R"),
    ]
    assert report(changes).splitlines()[2:] == [
        "gained a [M]: 0.5 g at P",
        "gained a [N]: 100 g at P",
        "  2 g at Q",
        "  3 g at R",
    ]
    assert report(changes).splitlines()[1] == "relabelled a [M]: 2 pc at Q, was [L]"
