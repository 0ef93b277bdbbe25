"""Identify the language of a text by its script and its function words: enough to choose models for it.

A text in Latin letters counts as English unless the function words of another language clearly prevail, so that a list
of names is still read. Two different ones of more than a letter are needed, or else a dump of bytes in hexadecimal (0e
da e3) would be Portuguese.
"""

import re
from collections import Counter

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
HANGUL = re.compile(r"[\uac00-\ud7a3]")
LATIN = re.compile(r"[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]+")
TOUCHING = re.compile(rf"{HAN.pattern}[A-Za-z]|[A-Za-z]{HAN.pattern}")
OTHER = re.compile(r"[\u0370-\u1cff\u1f00-\u1fff]+")  # Greek, Cyrillic, Hebrew, Arabic, the scripts of India, ...
WORDS = {  # without words that occur in names (van, von, du) or in English
    "en": "the and of to is that with for it are this not by from be have which was were his her he she has had",
    "de": "der die das und ist nicht mit den dem ein eine zu im für auf sich auch wird wurde als bei nach sie er "
    "einer einem einen wurden sind oder aber durch seine ihre zum zur vom über geboren",
    "es": "el los las y que del por con una para es se su al lo como más pero fue está nació ella desde hasta "
    "también sus",
    "fr": "le les des et est que dans une pour qui par sur pas au ce il elle sont avec été ses aux cette était "
    "ont mais leur né née",
    "it": "il di che è un per una sono del della con non gli nel alla dei anche si ha più nella nato nata stato stata",
    "nl": "het een en dat niet zijn voor met op aan ook bij naar wordt werd door hij maar zij geboren deze",
    "pt": "o os e da dos das um uma para com não por que foi ao mais são pelo também como nasceu ele ela em na",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in WORDS.items()}
KANA_SHARE = 0.1  # of kana among kana and Han: Japanese has more, Chinese that quotes Japanese has less
CLEARLY = 3  # function words of another language that a text with English ones needs not to be English
DIFFERENT = 2  # and how many of them must differ


def find_language(text: str) -> str | None:
    """Return zh, en, another code, or None for any other script.

    A Han character counts as much as a Latin word, or as three words if Han and Latin letters touch and no function
    word is English: Apple收购Beats is Chinese.
    """
    han, kana, hangul = (len(script.findall(text)) for script in (HAN, KANA, HANGUL))
    words = Counter(word.lower() for word in LATIN.findall(text))
    latin, other = words.total(), len(OTHER.findall(text))
    if max(han + kana, hangul, latin) < max(1, other):
        return None
    if hangul > max(han, latin):
        return "ko"
    joins = TOUCHING.search(text) and not any(words[word] for word in _LANGUAGES["en"])
    if (han + kana) * (3 if joins else 1) >= latin:
        return "ja" if kana > KANA_SHARE * (han + kana) else "zh"
    return _latin(words)


def family(language: str | None) -> str:
    """The language of a tag: zh-Hans, zh_CN and ZH are zh; None is ""."""
    return (language or "").lower().replace("_", "-").split("-")[0]


def _latin(words: Counter[str]) -> str:
    small = {name: sum(words[word] for word in known) for name, known in _LANGUAGES.items()}
    best = max(small, key=lambda name: small[name])
    different = sum(word in words for word in _LANGUAGES[best] if len(word) > 1)
    prevails = small[best] >= max(CLEARLY, 2 * small["en"]) if small["en"] else True
    return best if different >= DIFFERENT and prevails else "en"
