"""Cards of the systems that answer: as the program writes them, with the pictures that the code draws."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from factpin.errors import BadFile
from proofs import ANSWERS, EXPERIMENTS
from proofs.memory_cards import PICTURES, card, read_texts, write_cards
from proofs.memory_cogltx import drawn_recall
from proofs.results import read_results

FOLDER = Path(__file__).parents[2] / "docs" / "answers"
NEW = "write them anew: python -m proofs.memory_cards docs/answers"


@pytest.mark.parametrize("system", ANSWERS)
def test_a_card_and_its_picture_are_what_the_program_writes(system: str) -> None:
    texts, results = read_texts(FOLDER / "texts.toml"), read_results(FOLDER / "measured.json", EXPERIMENTS)
    assert (FOLDER / f"{system}.md").read_text(encoding="utf-8") == card(system, texts, results), NEW
    assert (FOLDER / f"{system}.svg").read_text(encoding="utf-8") == PICTURES[system](), NEW
    assert f"factpin verify {system} " in card(system, texts, results)


def test_no_card_is_left_over() -> None:
    assert {p.stem for p in FOLDER.glob("*.md")} == {p.stem for p in FOLDER.glob("*.svg")} == ANSWERS.keys()


def test_the_picture_of_a_recall_shows_what_the_code_kept() -> None:
    _, recall = drawn_recall()
    cells = [one.attrib for one in ElementTree.fromstring(PICTURES["cogltx"]()).iter() if "data-block" in one.attrib]
    for s, step in enumerate(recall.steps):
        for row, chosen in enumerate((step.filled, step.kept)):
            mine = [c for c in cells if (c["data-step"], c["data-row"]) == (str(s), str(row))]
            assert tuple(int(c["data-block"]) for c in mine if c["data-chosen"] == "1") == chosen
    assert 9 in recall.kept and 9 not in recall.steps[0].filled


def test_a_system_without_its_sentences_is_refused(tmp_path: Path) -> None:
    (tmp_path / "texts.toml").write_text('[cogltx]\ntitle = "CogLTX"\n', encoding="utf-8")
    with pytest.raises(BadFile, match=r"\[cogltx\] lacks idea, caption"):
        write_cards(tmp_path)
