"""Which language a text is in, by its script: enough to choose between Chinese and English models."""

import re

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
KANA = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")  # and hangul: such a text is not Chinese
LATIN = re.compile(r"[A-Za-z]+")
SAMPLE = 20_000  # characters looked at


def find_language(text: str) -> str | None:
    """zh, en, or None where the script is neither Han nor Latin. One Han character weighs as much as a Latin word."""
    text = text[:SAMPLE]
    han = len(HAN.findall(text))
    if len(KANA.findall(text)) > han / 4:
        return None
    words = len(LATIN.findall(text))
    if not han and not words:
        return None
    return "zh" if han >= words else "en"
