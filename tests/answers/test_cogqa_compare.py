"""What questions ask for, and which titles they name."""

import pytest

from factpin.answers.cogqa_compare import answer_kind, compared, named_titles, spans_of
from factpin.memory.names import title_key


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who directed Ed Wood?", ""),
        ("Are Ed Wood and Tim Burton American?", "yes_no"),
        ("Who is older, Ed Wood or Tim Burton?", "choice"),
        ("谷爱凌出生在哪里？", ""),
        ("谷爱凌是运动员吗？", "yes_no"),
        ("谷愛凌是運動員嗎？", "yes_no"),
        ("谷爱凌和李雷是不是朋友？", "yes_no"),
        ("几内亚是否有总统？", "yes_no"),
        ("哪吒有没有师父？", "yes_no"),
        ("何炅是否主持过节目？", "yes_no"),
        ("李雷还是韩梅梅更大？", "choice"),
        ("李雷還是韓梅梅更大？", "choice"),
        ("周杰伦的妻子叫什么？", ""),
        ("周杰倫的妻子叫什麼？", ""),
        ("他为什么这么说，要怎么走，走多么久", ""),
        ("哪個國家有沒有軍隊？", ""),
        ("谁是否来了？", ""),
        ("李雷知道是否有几个人来？", ""),
        ("決定是否廢除的依據是？", ""),
    ],
)
def test_what_a_question_is_answered_by(question: str, kind: str) -> None:
    assert answer_kind(question) == kind


def named(question: str, *titles: str) -> list[str]:
    """The titles that a question names, with the words that name them."""
    found = named_titles(question, titles)
    for one in found:
        assert spans_of(title_key(titles[one.number]), question[slice(*one.span)])
    return [titles[one.number] for one in found]


def test_titles_are_named_as_whole_words_in_the_order_of_the_question() -> None:
    titles = ["Edith (film)", "Ed", "The Lake", "北京"]
    assert named("Is The Lake older than Edith?", *titles) == ["The Lake", "Edith (film)"]
    assert named("Who edited Ed?", *titles) == ["Ed"]
    assert named("他去过北京吗？", *titles) == ["北京"]
    assert named("Is it?", "", "!", "Ed") == []


def test_no_title_is_named_inside_another_one() -> None:
    assert named("Is Thai Mozhi older than Jan-Lauritz Opstad?", "Thai", "Lauritz Opstad", "Thai Mozhi",
                 "Jan-Lauritz Opstad") == ["Thai Mozhi", "Jan-Lauritz Opstad"]  # fmt: skip
    assert named("Is Thai Mozhi in Thai?", "Thai", "Thai Mozhi") == ["Thai Mozhi", "Thai"]


def test_brackets_in_a_question_tell_versions_apart() -> None:
    old, new = "No, No, Nanette (1930 film)", "No, No, Nanette (1940 film)"
    assert named("Is No, No, Nanette (1940 Film) older than Ed Wood?", old, new, "Ed Wood") == [new, "Ed Wood"]
    assert named("Is No, No, Nanette older than Ed Wood?", old, new, "Ed Wood") == [old, "Ed Wood"]
    assert named(f"Is {old} older than {new}?", new, old) == [old, new]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("NBA", "他参加NBA比赛。", "NBA"),
        ("S.H.E", "谁是S.H.E的成员？", "S.H.E"),
        ("Sammy Davis Jr.", "He met Sammy Davis Jr. there", "Sammy Davis Jr."),
        ("Yahoo!", "He left Yahoo! in May", "Yahoo!"),
        ("C++", "C++ is old", "C++"),
        ("'Allo 'Allo!", "He saw 'Allo 'Allo! twice", "Allo 'Allo!"),
        ("Ed Wood (film)", "Ed Woody, Ed  wood", "Ed  wood"),
        ("ＮＢＡ", "他参加NBA比赛", "NBA"),
        ("José", "as Jose\u0301 said", "Jose\u0301"),
        ("Straße", "in der STRASSE 5", "STRASSE"),
        ("NBA", "他参加WNBA比赛", ""),
        ("NBA", "他参加NBA2比赛", ""),
        ("A", "This is a text", ""),
    ],
)
def test_a_title_needs_an_edge_only_where_letters_would_go_on(name: str, text: str, found: str) -> None:
    assert [text[slice(*span)] for span in spans_of(title_key(name), text)] == ([found] if found else [])


def test_a_choice_is_between_the_titles_on_the_two_sides() -> None:
    def sides(question: str, *titles: str) -> list[str] | None:
        pair = compared("choice", question, titles)
        return pair and [titles[one.number] for one in pair]

    assert sides("Who is older, Ann or Bob?", "Bob", "Cy", "Ann") == ["Ann", "Bob"]
    assert sides("In Rome, who is older, Ann or Bob?", "Rome", "Bob", "Ann") == ["Ann", "Bob"]
    assert sides("Who directed Trick or Treat?", "Trick or Treat", "Ann", "Bob") is None
    assert sides("Is Trick or Treat older, or Bob?", "Bob", "Trick or Treat") == ["Trick or Treat", "Bob"]
    assert sides("Is Ann a singer or an actor?", "Ann", "Bob") is None
    assert sides("李雷还是张伟更大？", "张伟", "李雷") == ["李雷", "张伟"]


def test_yes_or_no_compares_the_first_two_titles_and_none_that_is_not_named() -> None:
    pair = compared("yes_no", "Are Bob and Ann old?", ["Ann", "Cy", "Bob"])
    assert pair and [one.number for one in pair] == [2, 0]
    assert compared("yes_no", "Is Bob old?", ["Ann", "Cy", "Bob"]) is None
    assert compared("", "Are Bob and Ann old?", ["Ann", "Bob"]) is None
