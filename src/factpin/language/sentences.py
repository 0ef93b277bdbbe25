"""Split Chinese, English and mixed text into sentences, as half-open (start, end) offsets.

The splitter makes one pass over the marks that can matter (terminators, line breaks, opening marks) and decides each
from a limited context, so it takes linear time. Conventions, tested by tests/documents/hard_sentences.jsonl:

- Closing quotes and brackets, citation marks ([3]) and emoji after a terminator belong to the sentence that it ends.
- Speech, that is a quotation at the start of a sentence or after a colon or comma, is split inside like any text. Its
  last terminator ends the sentence unless what follows belongs to it: a mark (，), a reporting clause (”他说。) or a
  word that cannot start a sentence (”然后离开了。). A reporting clause with a colon starts the next sentence.
- A quotation or bracket in the middle of a clause (那句“你走吧。我不送了。”让…) is a part of it and is not split. After
  it, the sentence ends only at 。” or before a capital. A title in 《》 is never split.
- …… ends a sentence if the next words can only start one; ； never does.
- A blank line ends a sentence. A single line break ends it before a list item or heading, and if the next word would
  have fitted on the line. After a full line (hard-wrapped prose) the sentence goes on.
- After a comma at the end of a line the sentence goes on, after a colon only with speech or lower case.
- Zero-width spaces and the byte order mark count as white space.
"""

import re

from factpin.language._abbreviations import (
    EXCLAIMED,
    OPEN_WORDS,
    OPENS,
    SOUNDS,
    leans_on_quotation,
    may_end,
    never_ends,
    reports,
    starts_usually,
)

FULL_STOPS = "。｡！？"
TERMINATORS = FULL_STOPS + ".．!?…"
BREAKS = "\n\r\x0b\x0c\x85\u2028\u2029"
PAIRS = dict(zip('“‘「『"（([【《〈', '”’」』"）)]】》〉', strict=True))
CLOSING_QUOTES = "”’」』\"'"
CLOSING = CLOSING_QUOTES + "）)]】》〉}"
SPEECH_MARKS = '“‘「『"'
TITLE_MARKS = "《〈"
GOES_ON = ",;:，、；：､"
LINE_GOES_ON = ",，、､—–-([（“「/&+="

WORD_LIMIT = 24  # characters that are examined before and after a full stop
ASIDE_LIMIT = 120  # a longer quotation or bracket is split even in the middle of a clause
LINE_LIMIT = 120  # columns; a longer line is a paragraph, not hard-wrapped prose
NARROWEST = 24  # columns; shorter lines are lists and headings, not wrapped prose

_MARK = re.compile(f"[{TERMINATORS}]++|[{BREAKS}]|[{re.escape(''.join(PAIRS))}]")
_SPACE = re.compile(r"[\s\u200b\u2060\ufeff]*+")
_NO_SPACE = re.compile(r"[^\s\u200b\u2060\ufeff]")
_TURN = re.compile(f"[{re.escape(''.join(PAIRS) + ''.join(PAIRS.values()))}]|\n\r?\n")
_MORE = re.compile(r"(?: [.!?…](?=[\s.!?…”’\"'）)]|$))++")  # ". . ."
_CITATION = re.compile(r"(?: ?+\[[\d,–\-.]{1,12}\]|[¹²³⁴-⁹⁰])++")
_EMOJI = re.compile(
    "(?:[ \u3000]?+(?:[\u2600-\u27bf\u2b50\u2b55\ufe0f\u200d\U0001f000-\U0001faff]++|[:;]-?[)(DP](?=\\s|$)))++"
)
_YEAR = re.compile(r"[(（]\d")
_CJK = re.compile("[\u2e80-\u2fff\u3005-\u3007\u3040-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CJK_START = re.compile(f"[“「『（【《]|{_CJK.pattern}")

_NUMERAL = "〇零一二三四五六七八九十百千"
# What looks like "1." in front of a sentence and belongs to it.
_NUMBERING = re.compile(
    r"[-⁃*•#(（\[\s]{0,6}(?:§ ?)?(?:\d{1,3}(?:[.．]\d{1,3}){0,5}|[A-Za-z]|[IVX]{1,5}|[ivx]{1,5}|"
    r"(?:Fig|Figure|Tab|Table|Chapter|Section|Art|Article|Part|图|表)\.? ?\d{1,3}(?:\.\d{1,3})?)"
)
_FIRST_NUMBER = re.compile(r"([0-9]{1,2})\.\s")
_ITEM = re.compile(
    rf"[-⁃*•·●○◦▪‣–] |\#{{1,6}} |\d{{1,3}}(?:[)）、]|[.．](?!\d)|(?:[.．]\d{{1,3}}){{1,5}}[.．]?\s)|[A-Za-z][.)]\s|"
    rf"[(（](?:\d{{1,3}}|[A-Za-z]|[ivx]{{1,5}}|[{_NUMERAL}]{{1,3}})[)）]|[{_NUMERAL}]{{1,3}}、|[①-⓿❶-➓]|【|\||§ ?\d|"
    rf"第[{_NUMERAL}\d]{{1,5}}[章节節条條款部篇回卷]|(?:Fig\.|Figure|Table|图|表) ?\d{{1,3}}[.:：]"
)
# What a line takes or leaves as a whole: a Latin word or one wide character, with the marks that may not open a line.
_UNIT = re.compile(f"(?:[!-~\u00a1-\u2e7f]++|.)[{re.escape(GOES_ON + TERMINATORS + CLOSING)}]*+")
_BREAK = re.compile(f"[{BREAKS}]")
_FIELD = re.compile(r"[^\s:：，。,.]{1,24}(?: [^\s:：，。,.]{1,12})?[:：]\s?")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) of every sentence, trimmed and in order. Only white space is outside."""
    spans: list[tuple[int, int]] = []
    closes = _pairs(text)
    closed_at = set(closes.values())
    start = at = _after_space(text, 0)
    aside = -1  # where the quotation or bracket in the middle of the present clause closes
    while mark := _MARK.search(text, at):
        i, at = mark.span()
        if text[i] in PAIRS:
            close = closes.get(i, -1)
            if close > aside and close - i <= ASIDE_LIMIT and _is_aside(text, start, i):
                aside = close
            continue
        if text[i] in BREAKS:
            at = _after_space(text, i)
            end, ends = i, i >= start and _line_ends(text, start, i, at)
        else:
            if (item := _flat_item(text, start, i)) > start:
                spans.append((start, _before_space(text, start, item)))
                start = item
            at = _run_end(text, at)
            end = _tail_end(text, at, closes, closed_at)
            ends = _terminator_ends(text, start, (i, at, end), aside)
            at = _after_space(text, end) if ends else end
        if ends:
            spans.append((start, _before_space(text, start, end)))
            start = at
            aside = -1
    if start < len(text):
        spans.append((start, _before_space(text, start, len(text))))
    return spans


# ---- characters ---------------------------------------------------------------------------------------------------


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _before_space(text: str, start: int, end: int) -> int:
    while end > start and not _NO_SPACE.match(text, end - 1):
        end -= 1
    return end


def _is_cjk(text: str, at: int) -> bool:
    return _CJK.match(text, at) is not None


def _breaks(gap: str) -> int:
    """Line breaks in white space; two are a blank line."""
    gap = gap.replace("\r\n", "\n")
    return sum(gap.count(mark) for mark in BREAKS) + gap.count("\u2029")


def _word_before(text: str, start: int, end: int) -> str:
    """The word with its inner stops that ends here: "U.S", "Inc", "3.2.1"."""
    low = max(start, end - WORD_LIMIT)
    at = end
    while at > low and (text[at - 1].isalnum() or text[at - 1] in ".-&§'’") and not _is_cjk(text, at - 1):
        at -= 1
    return text[at:end]


# ---- quotations and brackets --------------------------------------------------------------------------------------


def _pairs(text: str) -> dict[int, int]:
    """Opening mark -> its closing mark, within a paragraph; marks without a partner are left out."""
    closes: dict[int, int] = {}
    open_marks: list[int] = []
    straight = -1  # the open straight quote, if any
    for turn in _TURN.finditer(text):
        i = turn.start()
        mark = text[i]
        if mark == "\n":
            open_marks.clear()
            straight = -1
        elif mark == '"':
            if straight < 0 or _opens_straight(text, i):
                straight = i
            else:
                closes[straight] = i
                straight = -1
        elif mark in PAIRS:
            open_marks.append(i)
        elif not (mark == "’" and text[i - 1 : i].isalpha() and text[i + 1 : i + 2].isalpha()):
            for depth in range(1, min(3, len(open_marks)) + 1):  # up to two unclosed marks may come between
                if PAIRS[text[open_marks[-depth]]] == mark:
                    closes[open_marks[-depth]] = i
                    del open_marks[-depth:]
                    break
    return closes


def _opens_straight(text: str, i: int) -> bool:
    before, behind = text[i - 1 : i], text[i + 1 : i + 2]
    return before in ("", " ", "\n", "\t") and bool(behind) and not behind.isspace()


def _is_aside(text: str, start: int, i: int) -> bool:
    """Whether the mark at i opens inside a clause, so that what it encloses is a word of that clause."""
    if text[i] in TITLE_MARKS:
        return True
    if i - start <= 3 and all(mark in PAIRS or mark in CLOSING for mark in text[start:i]):
        return False
    before = text[i - 1] if not text[i - 1].isspace() else text[i - 2 : i - 1]
    return PAIRS[text[i]] not in CLOSING_QUOTES or before not in GOES_ON + TERMINATORS + "—"


def _run_end(text: str, at: int) -> int:
    more = _MORE.match(text, at)
    return more.end() if more else at


def _tail_end(text: str, at: int, closes: dict[int, int], closed_at: set[int]) -> int:
    """The end of the closing marks, citations and emoji that belong to the terminator before `at`."""
    while at < len(text) and text[at] in CLOSING:
        opens_next = text[at] in "\"'" and at not in closed_at and (at in closes or text[at + 1 : at + 2].isalnum())
        if opens_next:
            break
        at += 1
    if citation := _CITATION.match(text, at):
        at = citation.end()
    if emoji := _EMOJI.match(text, at):
        at = emoji.end()
    return at


# ---- terminators --------------------------------------------------------------------------------------------------


def _terminator_ends(text: str, start: int, where: tuple[int, int, int], aside: int) -> bool:
    """where: begin and end of the run of terminators, end of the marks that stay with it."""
    i, run_end, end = where
    n = _after_space(text, end)
    breaks = _breaks(text[end:n])
    if n == len(text) or breaks > 1:
        return True
    if n == end and text[n] in GOES_ON + TERMINATORS:  # after ？”。 the last mark decides
        return False
    quoted = any(mark in CLOSING_QUOTES for mark in text[run_end : min(end, run_end + 4)])
    if i < aside and (end <= aside or not (breaks or _aside_may_end(text, i, end, n, aside))):
        return False
    if quoted and _YEAR.match(text, n):  # a title with its year: "Who Is Afraid?" (1962)
        return False
    if quoted and not breaks and (_is_cjk(text, n) or text[n].islower()):
        return _is_cjk(text, n) and not leans_on_quotation(text, n)
    run = text[i:run_end].replace(" ", "")
    if any(mark in FULL_STOPS for mark in run):
        return True
    if run in ".．":
        return _full_stop_ends(text, start, i, end, n) and not (quoted and reports(text, n))
    if not run.strip("….．"):
        return _ellipsis_ends(text, start, i, end, n)
    if _word_before(text, start, i) in EXCLAIMED and "!" in run:
        return n > end and starts_usually(text[n : n + WORD_LIMIT])
    if n == end:
        return _opens_unspaced(text, i, n)
    return _can_start(text, start, n) and not (quoted and reports(text, n))


def _aside_may_end(text: str, i: int, end: int, n: int, aside: int) -> bool:
    """Whether the sentence may end with the aside that closes here: before a capital, or in Chinese after 。”

    In 称它“很好。”几天后… the stop of the whole sentence is inside the quotation; ！ and ？ belong to the quotation.
    """
    if text[aside] not in CLOSING_QUOTES:
        return text[i] == "." and n > end and text[n].isupper()
    if text[i] in "。｡":
        return text[n].isalnum() or _CJK_START.match(text, n) is not None
    return n > end and text[n].isupper()


def _opens_unspaced(text: str, i: int, n: int) -> bool:
    """Whether a sentence can start after a mark without a space: in Chinese, or with Latin letters inside Chinese."""
    return _CJK_START.match(text, n) is not None or (text[n].isupper() and i > 0 and _is_cjk(text, i - 1))


def _full_stop_ends(text: str, start: int, i: int, end: int, n: int) -> bool:
    cited = end > i + 1 and text[end - 1] not in CLOSING  # a citation or emoji takes the place of the space
    if n == end and not cited and not _opens_unspaced(text, i, n):
        return False
    if i > start and _is_cjk(text, i - 1):
        return not (n == end and text[i - 1] in SOUNDS and text[n] in SOUNDS)
    if _is_numbering(text, start, i) or not (_is_cjk(text, n) or text[n] == "(" or _can_start(text, start, n)):
        return False
    word = _word_before(text, start, i)
    head = i - len(word)
    if len(word) == 1 and word.isalpha():
        if n == end or text[head - 1 : head] == "·":  # R.洛里斯, 罗伯特·B. 埃杰顿
            return False
        if text[head - 1 : head] == "°":  # a unit, not an initial
            return True
    previous = _word_before(text, start, _before_space(text, max(start, head - 3), head))
    return may_end(word, previous, text[n : n + WORD_LIMIT])


def _is_numbering(text: str, start: int, i: int) -> bool:
    if i - start <= WORD_LIMIT and _NUMBERING.fullmatch(text, start, i):
        return True
    word = _word_before(text, start, i)
    lead = text[max(start, i - len(word) - 2) : i - len(word)]
    return word.isdigit() and len(word) <= 2 and (lead[-1:] in tuple("：；") or lead in (": ", "; "))


def _flat_item(text: str, start: int, i: int) -> int:
    """Where the next number of a list written in one line begins ("1. Wash 2. Dry"), or -1."""
    first = _FIRST_NUMBER.match(text, start)
    if first is None or not text[i + 1 : i + 2].isspace():
        return -1
    head = i - len(str(int(first[1]) + 1))
    return head if text[head:i] == str(int(first[1]) + 1) and text[head - 1].isspace() else -1


def _ellipsis_ends(text: str, start: int, i: int, end: int, n: int) -> bool:
    if i == start or text[i - 1] in PAIRS:
        return False
    if _breaks(text[end:n]) and not text[n].islower():
        return True
    if _is_cjk(text, n):
        stutter = text[n] == text[i - 1]
        return not stutter and OPENS.match(text, n) is not None and i - start >= 4
    return n > end and _can_start(text, start, n)


def _can_start(text: str, start: int, n: int) -> bool:
    """Whether a sentence can start at n: not in lower case, except for names (iPhone) and texts without capitals."""
    if text[n] in PAIRS and n + 1 < len(text):
        if PAIRS[text[n]] in CLOSING_QUOTES:
            return True
        n += 1
    if text[n] in GOES_ON:
        return False
    if not text[n].islower():
        return True
    word = text[n : n + WORD_LIMIT].split(maxsplit=1)[0]
    return text[start].islower() or any(letter.isupper() for letter in word[:4])


# ---- line breaks --------------------------------------------------------------------------------------------------


def _line_ends(text: str, start: int, i: int, n: int) -> bool:
    """Whether the sentence from `start` ends at the line break i; the next line begins at n."""
    if n == len(text) or _breaks(text[i:n]) > 1:
        return True
    if "\u3000" in text[i:n] or _ITEM.match(text, n):
        return True
    end = _before_space(text, start, i)
    if end <= start:
        return False
    line_start = max(start, _line_start(text, end))
    if text[line_start] in "#|":
        return True
    if text[end - 1] in LINE_GOES_ON or _wants_more(text, start, end) or text[n].islower():
        return False
    if text[end - 1] in ":：":
        return text[n] not in SPEECH_MARKS
    if _FIELD.match(text, line_start) and _FIELD.match(text, n):
        return True
    return not _was_full(text, i, end, n)


def _wants_more(text: str, start: int, end: int) -> bool:
    if text[end - 1] == ".":
        return never_ends(_word_before(text, start, end - 1)) or _is_numbering(text, start, end - 1)
    return _word_before(text, start, end) in OPEN_WORDS


def _was_full(text: str, i: int, end: int, n: int) -> bool:
    """Whether the line that breaks at i had no room for the next word, so that the break means nothing.

    The width is that of the longest of this line, the one before and the one after. With greedy wrapping, no line has
    room for another word.
    """
    line_start = _line_start(text, i)
    line = text[line_start:end].strip()
    before = text[_line_start(text, line_start - 1) : max(0, line_start - 1)].strip()
    behind = _BREAK.split(text[n : n + LINE_LIMIT], maxsplit=1)[0]
    width = max(_columns(line), _columns(before), _columns(behind.rstrip()))
    word = _UNIT.match(behind)
    space = 0 if _is_cjk(text, end - 1) or _is_cjk(text, n) else 1
    needed = _columns(line) + space + _columns(word[0] if word else "")
    return NARROWEST <= _columns(line) < LINE_LIMIT and needed > width


def _line_start(text: str, end: int) -> int:
    low = max(0, end - LINE_LIMIT)
    return max(low, text.rfind("\n", low, max(end, low)) + 1, text.rfind("\r", low, max(end, low)) + 1)


def _columns(line: str) -> int:
    return len(line) if line.isascii() else len(line) + sum(character >= "\u2e80" for character in line)
