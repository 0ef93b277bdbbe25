"""Answers by the official conventions: cases counted by hand, and what holds for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Document, Question, Span
from factpin.errors import BadInput, UnknownName
from factpin.scoring.answer_text import CONVENTIONS, best_match, characters, longest_run, normal
from factpin.scoring.answers import Reply, compare, convention_of, figures, match_support, score_answers
from factpin.scoring.means import mean, mean_interval

LAKE = Document("lake", "Ost is deep. Ost is cold.", sentences=(Span(0, 12), Span(13, 25)))


def ask(id: str, *answers: str, language: str = "en", **fields: object) -> Question:
    return Question(id, "What?", language=language, answers=answers, context=(LAKE,), **fields)


# ---- words, as SQuAD's script counts them ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("The  Lake, a.k.a. Ost!", "lake aka ost"),
        ("an apple a day", "apple day"),
        ("theory", "theory"),
        ("U.S.-born", "usborn"),
        ("“the”", "“ ”"),  # only ASCII punctuation goes
    ],
)
def test_words_without_case_punctuation_and_articles(text: str, wanted: str) -> None:
    assert normal(text) == wanted


@pytest.mark.parametrize(
    "said, gold, em, f1",
    [
        ("the Lake Ost", ["Lake Ost."], 1.0, 1.0),
        ("deep Lake Ost", ["Lake Ost"], 0.0, 0.8),  # 2 of 3 words, all of 2: 2 * (2/3) / (5/3)
        ("Ost Ost", ["Ost"], 0.0, 2 / 3),  # a word counts as often as both have it
        ("Vell", ["Ost", "Vell", "Lake Vell"], 1.0, 1.0),
        ("cold", ["Ost"], 0.0, 0.0),
        ("", ["Ost"], 0.0, 0.0),
        ("", [], 1.0, 1.0),
        ("Ost", [], 0.0, 0.0),
        ("", ["the", "Ost"], 0.0, 0.0),  # "the" leaves nothing, which is not what is asked for
        ("no", ["no one"], 0.0, 2 / 3),
    ],
)
def test_squad(said: str, gold: list[str], em: float, f1: float) -> None:
    match = best_match(said, gold, "squad")
    assert (match.em, match.f1) == pytest.approx((em, f1))


def test_hotpotqa_gives_nothing_for_a_wrong_yes_or_no() -> None:
    assert best_match("no", ["no one"], "hotpotqa").f1 == 0.0
    assert best_match("yes indeed", ["yes"], "hotpotqa").f1 == 0.0
    assert best_match("Yes.", ["yes"], "hotpotqa").em == 1.0
    assert best_match("deep Lake Ost", ["Lake Ost"], "hotpotqa").f1 == pytest.approx(0.8)


def test_em_and_f1_may_come_from_different_gold() -> None:
    match = best_match("Lake Ost", ["Lake Ost", "deep Lake Ost"], "squad")
    assert (match.em, match.f1) == (1.0, 1.0)


# ---- characters, as CMRC's script counts them ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("光荣和ω-Force。", ["光", "荣", "和", "ωforce"]),
        ("于2007年，3,000元", ["于", "2007", "年", "3,000", "元"]),
        ("《A B》(1998)", ["a", "b", "(", "1998", ")"]),
        ("约75%。", ["约", "75", "%"]),
        ("It's U.S. law.", ["it", "'s", "u.s.", "law", "."]),
        ("don't go...", ["do", "n't", "go", "..."]),
        ("，。、", []),
    ],
)
def test_characters_and_words_between_them(text: str, wanted: list[str]) -> None:
    assert characters(text) == wanted


@pytest.mark.parametrize(
    "said, gold, em, f1",
    [
        ("北京市。", ["北京市"], 1.0, 1.0),
        ("在北京市", ["北京市"], 0.0, 6 / 7),  # 3 of 4, 3 of 3
        ("北大京市", ["北京市"], 0.0, 4 / 7),  # the longest run is 京市
        ("上海", ["北京", "海上"], 0.0, 0.5),
        ("上海", ["北京"], 0.0, 0.0),
        ("", [], 1.0, 1.0),
        ("北京", [], 0.0, 0.0),
    ],
)
def test_cmrc(said: str, gold: list[str], em: float, f1: float) -> None:
    match = best_match(said, gold, "cmrc")
    assert (match.em, match.f1) == pytest.approx((em, f1))


@given(st.lists(st.sampled_from("ab"), max_size=8), st.lists(st.sampled_from("ab"), max_size=8))
def test_the_longest_run_is_the_longest_common_substring(a: list[str], b: list[str]) -> None:
    x, y = "".join(a), "".join(b)
    wanted = max((j - i for i in range(len(x)) for j in range(i + 1, len(x) + 1) if x[i:j] in y), default=0)
    assert longest_run(a, b) == wanted


TEXT = st.text("bc 北京,.'", max_size=8)


@given(TEXT, st.lists(TEXT, max_size=3), st.sampled_from(sorted(CONVENTIONS)))
def test_figures_are_shares_and_an_equal_answer_is_right(said: str, gold: list[str], convention: str) -> None:
    match = best_match(said, gold, convention)
    assert all(0.0 <= value <= 1.0 for value in match)
    assert match.f1 == 1.0 or match.em == 0.0
    for one in gold:
        if one.strip(" ,.'"):
            assert best_match(one, gold, convention).em == 1.0


# ---- sets of questions -----------------------------------------------------------------------------------------------


def test_each_question_has_its_own_convention() -> None:
    assert convention_of(ask("q", "北京", language="zh-Hans")) == "cmrc"
    assert convention_of(ask("q", "Ost")) == "squad"
    assert convention_of(ask("q", "yes", kind="yes_no")) == convention_of(ask("q", "Ost", support=((0, 0),)))


def test_support_and_joint_by_hand() -> None:
    question = ask("q", "Lake Ost", support=((0, 0), (0, 1)))
    found = figures(score_answers([question], {"q": Reply("deep Lake Ost", support=frozenset({(0, 0)}))}))
    # support: precision 1, recall 1/2; answer: precision 2/3, recall 1; joint: 2/3 and 1/2
    assert found["support_f1"] == pytest.approx(2 / 3) and found["support_em"] == 0.0
    assert found["joint_f1"] == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5)) and found["joint_em"] == 0.0
    assert match_support(frozenset(), frozenset({(0, 0)})).f1 == 0.0


def test_a_set_with_everything() -> None:
    asked = [ask("a", "Ost"), ask("b", "yes", kind="yes_no"), ask("c", answerable=False), ask("d", answerable=False),
             ask("e", "Vell")]  # fmt: skip
    replies = {"a": Reply("Ost", 0.9), "b": Reply("no", 0.8), "c": Reply(""), "d": Reply("Ost", 0.2)}
    scores = score_answers(asked, replies)
    found = figures(scores)
    assert found["em"] == 2 / 5 and found["answered"] == 3 / 5
    assert found["em_answerable"] == pytest.approx(1 / 3) and found["em_unanswerable"] == 0.5
    assert found["em_yes_no"] == 0.0 and found["em_not_yes_no"] == 0.5
    assert list(scores.outcomes) == [(0.9, True), (0.8, False), (0.2, False)]
    assert found["precision"] == pytest.approx(1 / 3)
    assert "support_f1" not in found
    assert (scores.replied, scores.answered) == (4, 3)


def test_a_reply_without_support_is_not_asked_for_it() -> None:
    question = ask("q", "Ost", support=((0, 0),))
    assert "joint_f1" not in figures(score_answers([question], {"q": Reply("Ost")}))
    missing = figures(score_answers([question], {}))
    assert (missing["em"], missing["support_f1"], missing["joint_f1"]) == (0.0, 0.0, 0.0)


def test_the_convention_can_be_one_for_all() -> None:
    question = ask("q", "北京市")
    assert figures(score_answers([question], {"q": Reply("北京")}))["f1"] == 0.0
    assert figures(score_answers([question], {"q": Reply("北京")}, convention="cmrc"))["f1"] == pytest.approx(0.8)
    with pytest.raises(UnknownName, match="cmrc, hotpotqa, squad"):
        score_answers([question], {}, convention="cmrk")


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(BadInput, match="1 question id occurs twice"):
        score_answers([ask("q", "a"), ask("q", "b")], {})
    with pytest.raises(BadInput, match="no gold answer"):
        score_answers([Question("q", "What?")], {})


def test_intervals_and_paired_tests_are_over_questions() -> None:
    asked = [ask(f"q{i}", "Ost") for i in range(200)]
    good = score_answers(asked, {f"q{i}": Reply("Ost") for i in range(0, 160)})
    poor = score_answers(asked, {f"q{i}": Reply("Ost") for i in range(40, 160)})
    assert mean(good.rows["em"]) == 0.8
    low, high = mean_interval(good.rows["em"])
    error = 1.96 * np.sqrt(0.8 * 0.2 / 200)
    assert (low, high) == pytest.approx((0.8 - error, 0.8 + error), abs=0.01)
    paired = compare(good, poor, "em")
    assert paired.difference == pytest.approx(0.2) and paired.p_value < 0.01
    assert paired.interval[0] > 0.1
    same = compare(good, good, "em")
    assert (same.difference, same.p_value) == (0.0, 1.0)
    with pytest.raises(BadInput, match="same questions"):
        compare(good, score_answers(asked[:3], {}))
    with pytest.raises(UnknownName, match="There is no figure 'support'"):
        compare(good, poor, "support")


def test_an_interval_skips_questions_that_a_figure_is_not_about() -> None:
    asked = [ask(f"q{i}", "yes", kind="yes_no") if i % 2 else ask(f"q{i}", "Ost") for i in range(40)]
    scores = score_answers(asked, {f"q{i}": Reply("yes") for i in range(40)})
    assert mean(scores.rows["em_yes_no"]) == 1.0 and mean_interval(scores.rows["em_yes_no"]) == (1.0, 1.0)
