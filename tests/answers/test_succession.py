"""Who came after whom: the sentence has to say it in the direction of the question."""

import pytest

from factpin.answers.parse import parse_question
from factpin.answers.succession import says_so

AFTER = "Who succeeded Angela Merkel as chancellor?"
BEFORE = "Who did Angela Merkel succeed as chancellor?"


@pytest.mark.parametrize(
    ("question", "answer", "sentence", "expected"),
    [
        (AFTER, "Gerhard Schröder", "Angela Merkel succeeded Gerhard Schröder as chancellor.", False),
        (AFTER, "Gerhard Schröder", "Angela Merkel, who succeeded Gerhard Schröder, resigned.", False),
        (AFTER, "Gerhard Schröder", "Gerhard Schröder was succeeded by Angela Merkel.", False),
        (AFTER, "Gerhard Schröder", "Merkel became chancellor after Gerhard Schröder.", False),
        (AFTER, "Olaf Scholz", "Olaf Scholz succeeded Angela Merkel as chancellor.", True),
        (AFTER, "Olaf Scholz", "In 2021 Olaf Scholz (SPD) replaced the long-serving chancellor Merkel.", True),
        (AFTER, "Olaf Scholz", "She was succeeded as chancellor by Olaf Scholz.", True),
        (AFTER, "Olaf Scholz", "Angela Merkel stepped down and was succeeded by Olaf Scholz.", True),
        (AFTER, "Olaf Scholz", "Her successor, Olaf Scholz, took office in 2021.", True),
        (AFTER, "Olaf Scholz", "Olaf Scholz is the successor of Angela Merkel.", True),
        (AFTER, "Olaf Scholz", "Angela Merkel preceded Olaf Scholz.", True),
        (AFTER, "Olaf Scholz", "Succeeding Angela Merkel, Olaf Scholz took office.", True),
        (BEFORE, "Gerhard Schröder", "Angela Merkel succeeded Gerhard Schröder as chancellor.", True),
        (BEFORE, "Olaf Scholz", "Olaf Scholz succeeded Angela Merkel as chancellor.", False),
        ("Who was Angela Merkel succeeded by?", "Olaf Scholz", "Olaf Scholz succeeded Angela Merkel.", True),
        ("Who was succeeded by Angela Merkel?", "Gerhard Schröder", "Merkel succeeded Gerhard Schröder.", True),
        ("Who was succeeded by Angela Merkel?", "Olaf Scholz", "Olaf Scholz succeeded Merkel.", False),
        ("Who preceded Angela Merkel?", "Gerhard Schröder", "Angela Merkel succeeded Gerhard Schröder.", True),
        ("Who preceded Angela Merkel?", "Olaf Scholz", "Angela Merkel preceded Olaf Scholz.", False),
        ("Who was Angela Merkel's predecessor?", "Gerhard Schröder", "Her predecessor was Gerhard Schröder.", True),
        ("What replaced the German Mark?", "euro", "In 2002 the euro replaced the German Mark.", True),
        ("When did Angela Merkel succeed Gerhard Schröder?", "2005", "Merkel took office in 2005.", True),
        ("Who succeeded in splitting the atom?", "Ernest Walton", "Ernest Walton split the atom.", True),
        ("Who married Ann Ash?", "Tom Oak", "Ann Ash succeeded Tom Oak.", True),
        ("谁接替了默克尔？", "施罗德", "默克尔接替施罗德出任总理。", False),
        ("谁接替了默克尔？", "朔尔茨", "朔尔茨接替默克尔出任总理。", True),
        ("谁接替了默克尔？", "朔尔茨", "2021年默克尔卸任，由朔尔茨接任。", True),
        ("默克尔的继任者是谁？", "朔尔茨", "默克尔的继任者是朔尔茨。", True),
        ("默克尔的前任是谁？", "施罗德", "默克尔接替施罗德出任总理。", True),
        ("默克尔的前任是谁？", "朔尔茨", "朔尔茨的前任是默克尔。", False),
        ("吕理政退休后，由谁接任？", "王长华", "2016年，吕理政届龄退休，由王长华接任馆长。", True),
        ("朗孜厦的长官需经谁同意后任命？", "达赖喇嘛", "朗孜厦的长官经达赖喇嘛同意后任命。", True),
        ("旺楚克是哪个国家的前任国王？", "不丹", "旺楚克，前任不丹国王。", True),
        ("默克尔接替了谁？", "朔尔茨", "朔尔茨接替默克尔出任总理。", False),
    ],
)
def test_the_direction_of_a_succession(question: str, answer: str, sentence: str, expected: bool) -> None:
    assert says_so(parse_question(question), answer, sentence) is expected
