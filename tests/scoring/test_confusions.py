"""Examples in their sentences."""

from factpin.documents import Document, Span
from factpin.scoring.confusions import AROUND, Mistakes, in_sentences


def test_only_the_sentence_of_the_place_is_shown():
    doc = Document("d", "他走了。谷爱凌来了。好。", sentences=(Span(0, 4), Span(4, 10), Span(10, 12)))
    assert in_sentences(doc, [(4, 7)]) == "[谷爱凌]来了。"
    assert in_sentences(doc, [(0, 1), (4, 7)]) == "[他]走了。 … [谷爱凌]来了。"


def test_nested_and_touching_places_keep_their_brackets_apart():
    assert in_sentences(Document("d", "abcdef"), [(0, 4), (1, 3)]) == "[a[bc]d]ef"
    assert in_sentences(Document("d", "abcdef"), [(0, 2), (2, 4)]) == "[ab][cd]ef"


def test_long_sentences_are_cut_on_both_sides_and_lines_joined():
    doc = Document("d", "x" * 200 + "\nword\n" + "y" * 200)
    shown = in_sentences(doc, [(201, 205)])
    assert shown == "…" + "x" * (AROUND - 1) + " [word] " + "y" * (AROUND - 1) + "…"


def test_a_place_that_runs_past_its_sentence_is_shown_whole():
    doc = Document("d", "abcdef", sentences=(Span(0, 3), Span(3, 6)))
    assert in_sentences(doc, [(1, 5)]) == "a[bcde]"


def test_the_most_frequent_mistake_comes_first_with_its_first_example():
    mistakes = Mistakes()
    for start in (0, 2, 4):
        mistakes.add("label", Document("d", "abcdef"), gold="x", predicted="y", places=[(start, start + 1)])
    mistakes.add("missed", Document("e", "abcdef"), gold="x", places=[(0, 1)])
    worst = mistakes.worst()
    assert [(c.kind, c.count, c.document) for c in worst] == [("label", 3, "d"), ("missed", 1, "e")]
    assert worst[0].example == "[a]bcdef"
