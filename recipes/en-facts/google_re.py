"""Google's relation extraction corpus: snippets of Wikipedia that five raters judged, as sentences with pinned facts.

The corpus gives the subject by its article and the object by a number; this module finds them in the text. A sentence
is used if that is certain. Rated yes: the sentence with the object and every mention of the subject in it. Rated no:
the snippet, if none of its words hints at the relation, so that it states the relation of nobody. Other snippets rated
no are for evaluation only: their meta has the object that is denied, but they may state another one.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from _prepare_facts import Place, Relation, Table, Told, make_meta, pin, read_lines

from factpin.documents import Document
from factpin.language.sentences import split_sentences

FILES = ("date_of_birth", "place_of_death", "education-degree")
LONGEST = 700  # characters of a snippet without a fact
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
MONTH = "(?:" + "|".join(rf"{name[:3]}(?:{name[3:]}|t)?\.?" if name != "May" else "May" for name in MONTHS) + ")"
DAY = r"\d{1,2}(?:st|nd|rd|th)?"
DATE = re.compile(rf"\b(?:{DAY} (?:of )?{MONTH},? |{MONTH} {DAY},? |{MONTH},? )?(\d{{4}})\b(?! ?BC)")
PRONOUN = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er|[Hh]im)\b")
MARK = re.compile(r"\(\((?:NAM|NOM|PRO): (.+?)\)\)")
DEGREE = re.compile(
    r"\b(?:bachelor|master|doctor|associate|diploma|degree|licentiate|baccalaureate|honours?|ph\.? ?d|d\.? ?phil|"
    r"m\.?phil|"
    r"b\. ?\w|m\. ?\w|ll\.? ?[bmd]|j\.?d|m\.?d|[bm]\.?(?:a|s|sc|eng|ed|ba|fa|mus|arch|tech|com)|s\.b|a\.b|a\.m|"
    r"magna|cum laude|d\. ?\w|ed\.?d|mba|certificate|graduat)\b", re.I)  # fmt: skip
BIRTH = re.compile(r"\b(?:born|birth|née?|baptised|baptized|age|aged)\b|\bb\.|\(\D{0,20}\d{3,4}|\d{3,4} ?[-–—]", re.I)
DEATH = re.compile(
    r"\b(?:die[ds]?|dying|dead|death|killed|execut\w*|murder\w*|assassinat\w*|buried|burial|suicide|drown\w*|"
    r"perish\w*|passed away|hanged|interred|funeral|slain|beheaded|retire\w*)\b|\bd\.|†|"
    r"[-–] ?\w* ?\w*,? ?\d{4}\)", re.I)  # fmt: skip
DIED = re.compile(r"\b(?:died|passed away)\b")
NAME = r"[A-Z][\w’'.-]*[\w](?: (?:(?:de|la|of|upon|on|von|le|do|da|am|an|der|the|sur|in) )?[A-Z][\w’'-]+)*"
PLACE = re.compile(rf"\b(?:in|at) ({NAME})((?:, {NAME})*)")
NO_PLACE = re.compile(rf"{MONTH}|.*\b(?:Hospital|Battle|Prison|Castle|House|War|Airport|University|College|Palace|Hall|"
                      rf"Abbey|Camp|Center|Centre|Home|Clinic|Infirmary|Park|Street|Road|Christmas|Easter|Spring|"
                      rf"Summer|Autumn|Winter|Lane|Army|God|BC|AD|II|Church|Monastery|School|Asylum|"
                      rf"Sanatorium)\b")  # fmt: skip


def google_re(folder: Path, table: Table) -> Iterator[Document]:
    """The documents of all files; meta says who is spoken of, and what the raters said."""
    for name in FILES:
        for number, row in enumerate(read_lines(folder / f"20131104-{name}.json.xz"), 1):
            found = table.find(row["pred"])
            verdict = rating(row)
            if found is not None and verdict:
                doc = _document(row, f"google_re-{name}-{number}", found[0], verdict)
                if doc is not None:
                    yield doc


def rating(row: dict[str, Any]) -> str:
    """What at least four of five raters say, or nothing."""
    votes = Counter(judgment["judgment"] for judgment in row["judgments"])
    return next((verdict for verdict in ("yes", "no") if votes[verdict] >= 4 or votes[verdict] == 3 > len(votes)), "")


def _document(row: dict[str, Any], id: str, relation: Relation, verdict: str) -> Document | None:
    subject = unquote(row["evidences"][0]["url"].rsplit("/", 1)[-1]).replace("_", " ")
    snippet, marks = unmarked(row["evidences"][0]["snippet"])
    more = {"subject": subject, "judgment": verdict}
    if verdict == "no":
        return denied(snippet, relation.name, row["obj"], marks, id, more)
    for start, end in split_sentences(snippet):
        sentence = snippet[start:end]
        inside = [(a - start, b - start) for a, b in marks if start <= a and b <= end]
        tails = objects(sentence, relation.name, row["obj"], inside)
        heads = subjects(sentence, subject, tails)
        if heads and tails:
            facts = [Told(Place(*head, "person"), relation.name, Place(*tail, relation.tail[0]))
                     for head in heads for tail in tails]  # fmt: skip
            sure = all_told(sentence, relation.name, tails, heads)
            return pin(id, sentence, facts, make_meta("google_re", [relation.name] * sure, **more), "en")
    return None


def denied(
    snippet: str, relation: str, value: str, marks: list[tuple[int, int]], id: str, more: dict[str, Any]
) -> Document | None:
    """A snippet of which the relation is denied: altogether, or of one object."""
    text = snippet[: last_end(snippet)]
    if not hints(snippet, relation, marks):
        return pin(id, text, [], make_meta("google_re", [relation], **more), "en")
    tails = dates(text, value) if relation == "date of birth" else [] if relation == "place of death" else marks
    names = sorted({text[a:b] for a, b in tails if relation == "date of birth" or not DEGREE.search(text[a:b])} - {""})
    if not names:
        return None
    return pin(id, text, [], make_meta("google_re", [], denied={"relation": relation, "tails": names}, **more), "en")


def unmarked(snippet: str) -> tuple[str, list[tuple[int, int]]]:
    """The snippet without its marks, and where the marked names are."""
    text, spans = "", []
    pieces = MARK.split(snippet.replace("``", '"').replace("''", '"').replace("--", "–"))
    for i, piece in enumerate(pieces):
        if i % 2:
            spans.append((len(text), len(text) + len(piece)))
        text += piece
    return text, spans


def last_end(text: str) -> int:
    """The end of the last sentence within the limit."""
    ends = [end for _, end in split_sentences(text)]
    return max([end for end in ends if end <= LONGEST], default=ends[0] if ends else len(text))


def hints(text: str, relation: str, marks: list[tuple[int, int]]) -> bool:
    """Whether something in the text hints at the relation."""
    if relation == "date of birth":
        return BIRTH.search(text) is not None
    if relation == "place of death":
        return DEATH.search(text) is not None
    return not marks or DEGREE.search(text) is not None


def subjects(text: str, title: str, tails: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The mentions of an article's subject: its title, else its last name, else a pronoun."""
    name = re.sub(r" \(.*|,.*", "", title)
    for surface in (name, name.split()[-1] if name.split() else ""):
        found = [m.span() for m in re.finditer(rf"\b{re.escape(surface)}\b", text)] if len(surface) > 2 else []
        if found:
            return [span for span in found if all(span[1] <= a or b <= span[0] for a, b in tails)]
    first = PRONOUN.search(text)
    return [first.span()] if first else []


def objects(text: str, relation: str, value: str, marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where the object is stated."""
    if relation == "date of birth":
        return dates(text, value)[:1]
    if relation == "place of death":
        return places(text)
    return [span for span in marks if DEGREE.search(text[slice(*span)])]


def dates(text: str, value: str) -> list[tuple[int, int]]:
    """The dates of a text that agree with 1984, 1984-02-13 or 13 February 1984, with day and month where it can be."""
    year = re.search(r"\d{4}", value)
    month = re.search(r"-(\d\d)-", value)
    names = MONTHS[int(month[1]) - 1][:3] if month and 0 < int(month[1]) < 13 else ""
    names = names or next((name[:3] for name in MONTHS if name in value and "01 January" not in value), "")
    found = [m for m in DATE.finditer(text) if year and m[1] == year[0]]
    found = [m for m in found if not names or names in m[0] or m[0] == m[1]]
    return [m.span() for m in sorted(found, key=lambda m: (-len(m[0]), m.start()))]


def places(text: str) -> list[tuple[int, int]]:
    """The places in which somebody died, from the smallest on."""
    died = DIED.search(text)
    for found in PLACE.finditer(text, died.end()) if died else ():
        if re.search(r"[;:]|\b(?:and|but|who|while)\b", text[died.end() : found.start()] if died else ""):
            return []
        if NO_PLACE.match(found[1]):
            continue
        spans = [found.span(1)]
        at = found.start(2)
        for piece in found[2].split(", ")[1:]:
            spans.append((at + 2, at + 2 + len(piece)))
            at += 2 + len(piece)
        return [(a, b) for a, b in spans if not NO_PLACE.match(text[a:b])]
    return []


def all_told(text: str, relation: str, tails: list[tuple[int, int]], heads: list[tuple[int, int]]) -> bool:
    """Whether the sentence states the relation for nobody and nothing else."""
    others = [m for m in PRONOUN.finditer(text) if m.span() not in heads]
    if others:
        return False
    if relation == "academic degree":
        rest = "".join(c for i, c in enumerate(text) if not any(a <= i < b for a, b in tails))
        return DEGREE.search(re.sub(r"degree|honours|graduat\w*", "", rest)) is None
    cue = BIRTH if relation == "date of birth" else DIED
    return len(re.findall(r"\bborn\b" if cue is BIRTH else cue, text)) <= 1
