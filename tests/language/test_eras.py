"""Years that are counted by reigns."""

import pytest

from factpin.language.eras import era_before, is_era


@pytest.mark.parametrize("name", ["弘治", "貞觀", "天宝", "天寶", "昭和", "民国", "民國"])
def test_eras_are_known_in_both_scripts(name: str) -> None:
    assert is_era(name)


@pytest.mark.parametrize(
    ("text", "era"),
    [
        ("明弘治十五年", "弘治"),
        ("于天正3年", "天正"),
        ("朝鲜显宗二年", "显宗"),
        ("鲁庄公十年", "庄公"),
        ("判处十年", ""),
    ],
)
def test_the_era_before_a_year_is_found(text: str, era: str) -> None:
    place = next(i for i, c in enumerate(text) if c in "二十3")
    assert text[era_before(text, place) : place] == era


@pytest.mark.parametrize("king", ["国王", "法国王", "亚女王", "王", ""])
def test_a_king_without_a_name_is_no_era(king: str) -> None:
    assert era_before(f"{king}二年", len(king)) == len(king)
