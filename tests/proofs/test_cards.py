"""Cards: one for each method, as the program writes them; masks are drawn as the code has them; lines are counted."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from factpin.errors import BadFile
from factpin.layers.masks import causal
from proofs import EXPERIMENTS, SYSTEMS
from proofs.cards import (
    DRAWN,
    FEW_LINES,
    FIELDS,
    MOST_LINES,
    card,
    lines,
    measured,
    picture,
    read_texts,
    where,
    write_cards,
)
from proofs.drawing import drawn_view, path, word
from proofs.results import Learned, read_results
from proofs.world import VOCABULARY

FOLDER = Path(__file__).parents[2] / "docs" / "objectives"
EACH = pytest.mark.parametrize("system", SYSTEMS)
NEW = "write them anew: python -m proofs.cards docs/objectives"


def undrawn(runs: str, rows: int, columns: int) -> np.ndarray:
    """The mask of a path."""
    mask = np.zeros((rows, columns), bool)
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", runs):
        mask[int(y), int(x) : int(x) + int(width)] = True
    return mask


@EACH
def test_a_card_and_its_picture_are_what_the_program_writes(system: str) -> None:
    texts, results = read_texts(FOLDER / "texts.toml"), read_results(FOLDER / "measured.json", EXPERIMENTS)
    assert (FOLDER / f"{system}.md").read_text(encoding="utf-8") == card(system, texts, results), NEW
    assert (FOLDER / f"{system}.svg").read_text(encoding="utf-8") == picture(system), NEW


def test_no_card_is_left_over() -> None:
    cards = {p.stem for p in FOLDER.glob("*.md")} - {"hour", "networks"}  # pages on several of them
    assert cards == {p.stem for p in FOLDER.glob("*.svg")} == SYSTEMS.keys()


@EACH
def test_a_picture_shows_the_masks_of_the_code_and_is_small(system: str) -> None:
    source = (FOLDER / f"{system}.svg").read_text(encoding="utf-8")
    assert len(source.encode()) < 20_000
    drawn = [one for one in ElementTree.fromstring(source).iter() if one.tag.endswith("path")]
    wanted = [
        (query, key, spec.dense())
        for row in DRAWN.get(system, SYSTEMS[system])
        for query, one in drawn_view(row).streams.items()
        if len(one)
        for key, spec in one.sees.items()
    ]
    assert len(drawn) == len(wanted)
    for one, (query, key, mask) in zip(drawn, wanted, strict=True):
        assert (one.get("data-query"), one.get("data-key")) == (query, key)
        assert np.array_equal(undrawn(one.get("d"), *mask.shape), mask)
        assert mask.any()


def test_a_path_is_undone() -> None:
    chance = np.random.default_rng(0)
    for mask in (causal(5).dense(), *(chance.random((6, 9)) < p for p in (0.2, 0.5, 0.9))):
        assert np.array_equal(undrawn(path(mask), *mask.shape), mask)


def test_cells_are_named_for_people() -> None:
    shown = [word(piece, VOCABULARY) for piece in (11, 18, VOCABULARY.mask, VOCABULARY.sentinels[1], 60)]
    assert shown == ["x1", "x8", "[M]", "<1>", "y"]


@EACH
def test_a_declaration_has_at_most_60_lines(system: str) -> None:
    assert 0 < lines(system) <= MOST_LINES
    told = (FOLDER / f"{system}.md").read_text(encoding="utf-8")
    assert f"| lines of code | {lines(system)}: " in told


def code(file: str, last: str) -> int:
    """The full lines of a file behind its last import."""
    text = (FOLDER.parents[1] / "src" / "factpin" / "objectives" / file).read_text(encoding="utf-8")
    return sum(bool(line.strip()) for line in text.split(last)[1].splitlines())


def test_lines_are_those_of_the_rows_and_of_what_no_other_method_names() -> None:
    assert lines("mass") == 1 + code("mass.py", "import View, encoder, stream\n")
    assert lines("bart") - lines("mass") > 5  # six rows, two of them longer
    assert lines("gpt") + lines("transformer_xl") == 2 + code("gpt.py", "import NONE, View, memory, stream\n")
    assert lines("bert") == lines("wwm") == 1  # the cloze is shared
    shared = code("cloze.py", "import View, stream\n")
    assert f"based on `objectives/cloze.py` ({shared} lines), shared by 10 methods" in where("bert")
    assert where("gpt") == f"{lines('gpt')}: the rows and what only they use in `objectives/gpt.py`"


def test_most_declarations_have_fewer_than_20_lines() -> None:
    assert sum(lines(system) < FEW_LINES for system in SYSTEMS) > len(SYSTEMS) / 2


def test_cards_say_where_training_departs_from_the_published_method() -> None:
    told = {system: (FOLDER / f"{system}.md").read_text(encoding="utf-8") for system in SYSTEMS}
    for system in ("transformer_xl", "xlnet"):
        assert "a resumed run is exact" in told[system]
    assert "a limit of 20 predicted pieces per text" in told["bert"] and "shortening a tenth" in told["bert"]
    assert "generation learns where to stop" in told["unilm"]
    assert "teacher forcing" in told["t5"]


def test_every_card_has_the_same_shape() -> None:
    shapes = set()
    for system in SYSTEMS:
        text = (FOLDER / f"{system}.md").read_text(encoding="utf-8")
        shapes.add(tuple(re.findall(r"^\| ([a-z][^|]*?) \|", text.split("## Measured")[0], re.MULTILINE)))
        assert f"factpin verify {system} " in text
    assert len(shapes) == 1 and "often misstated" in shapes.pop()


def test_a_bar_that_is_not_reached_and_seeds_that_are_missing_are_said() -> None:
    assert "Not measured yet." in measured("gpt", {})
    learned = {1: Learned({"on": 0.3, "off": 2.0}, 1.0)}
    told = measured("gpt", {"gpt_context": learned})
    assert "off at least 2.3: **not reached**" in told and "on at most 0.45: reached" in told
    assert "Only 1 of 3 seeds are measured." in told
    whole = dict.fromkeys((1, 2, 3), Learned({"on": 0.3, "off": 2.4}, 1.0))
    assert "Only" not in measured("gpt", {"gpt_context": whole})


def test_a_method_without_its_sentences_is_refused(tmp_path: Path) -> None:
    (tmp_path / "texts.toml").write_text('[albert]\ntitle = "ALBERT"\n', encoding="utf-8")
    with pytest.raises(BadFile, match=r"\[albert\] lacks idea, formula"):
        write_cards(tmp_path)
    assert set(FIELDS) == set(read_texts(FOLDER / "texts.toml")["albert"])
