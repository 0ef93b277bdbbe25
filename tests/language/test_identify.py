"""The language of a text, as far as choosing a model needs it."""

import pytest

from factpin.language.identify import WORDS, family, find_language


@pytest.mark.parametrize(
    "text, language",
    [
        ("谷爱凌出生于美国加利福尼亚州旧金山。", "zh"),
        ("臺灣的首都是臺北。", "zh"),
        ("Anna Weber was born in Berlin.", "en"),
        ("王小明 uses Python and PyTorch 每天都写代码，也写文档。", "zh"),
        ("The word 北京 means northern capital, and it is old.", "en"),
        ("Anna Weber, Tom Hill, Maria Rossi", "en"),
        ("The words der, die, das, und are not long.", "en"),
        ("Der Mann ist nicht mit der Frau nach Berlin gefahren, und das ist gut.", "de"),
        ("Le président est dans une ville avec des amis, et il est content.", "fr"),
        ("El presidente y los ministros salieron de la ciudad con una carta para el rey.", "es"),
        ("Il presidente non è nella città, ma sono arrivati gli amici della moglie.", "it"),
        ("De man is niet met het kind naar een winkel, maar hij werd ook moe.", "nl"),
        ("O presidente não foi com uma carta para os ministros, e também não foi ao rei.", "pt"),
        ("Berlin ist die Hauptstadt von Deutschland.", "de"),
        ("Les Misérables sont dans une ville.", "fr"),
        ("00000010: 3e0e e3da 6f20 da0a 0ee3  >...o ....  e da e o", "en"),
        ("Die Hard, Die Another Day, Die Welt", "en"),
        ("Angela Merkel wurde in Hamburg geboren.", "de"),
        ("Angela Merkel wurde in Hamburg geboren. Sie studierte in Leipzig.", "de"),
        ("Marie Curie est née à Varsovie. Elle a étudié à Paris.", "fr"),
        ("Pablo Picasso nació en Málaga. Vivió desde 1904 en París.", "es"),
        ("Dante è nato nella città di Firenze.", "it"),
        ("Vincent van Gogh werd geboren in Zundert. Hij woonde in Arles.", "nl"),
        ("Pessoa nasceu em Lisboa. Ele viveu na África.", "pt"),
        ("He was born in Em, in the era of Na and No.", "en"),
        ("東京はとても大きい都市です。", "ja"),
        ("서울은 한국의 수도입니다.", "ko"),
        ("Столица России это Москва, а не Berlin.", None),
        ("القاهرة هي عاصمة مصر", None),
    ],
)
def test_the_language_is_found(text: str, language: str | None) -> None:
    assert find_language(text) == language


@pytest.mark.parametrize("text", ["", " \n", "12345, 67", "😀😀", "\x00", "…"])
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert find_language(text) is None


def test_one_foreign_character_changes_nothing() -> None:
    for foreign in ("の", "ж", "한", "ß", "北"):
        assert find_language(f"Anna Weber was born {foreign} in Berlin and lives in Rome.") == "en"
    for foreign in ("の", "ж", "한", "word"):
        assert find_language(f"王小明出生于北京{foreign}，现在住在上海市的一条小街里。") == "zh"


def test_names_with_small_words_in_them_stay_english() -> None:
    assert (
        find_language("Vincent van Gogh, Ludwig van Beethoven, Otto von Bismarck, Jan van Eyck, Daphne du Maurier")
        == "en"
    )


def test_the_small_words_of_english_are_no_other_language_s() -> None:
    english = set(WORDS["en"].split())
    assert not any(english & set(words.split()) for name, words in WORDS.items() if name != "en")


def test_the_end_of_a_long_text_counts_as_its_beginning() -> None:
    assert find_language("Abstract of the paper. " * 10 + "王小明出生于北京。" * 5000) == "zh"


@pytest.mark.parametrize(
    "tag, language",
    [
        ("zh", "zh"),
        ("zh-Hans", "zh"),
        ("zh_CN", "zh"),
        ("ZH-TW", "zh"),
        ("EN", "en"),
        ("en-US", "en"),
        ("", ""),
        (None, ""),
    ],
)
def test_the_family_of_a_tag_is_its_language(tag: str | None, language: str) -> None:
    assert family(tag) == language


def test_what_is_found_is_its_own_family() -> None:
    assert {
        family(find_language(text)) for text in ("王小明出生于北京。", "Anna was born.", "서울은 한국의 수도입니다.")
    } == {
        "zh",
        "en",
        "ko",
    }
