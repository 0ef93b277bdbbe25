"""The form that HotpotQA and 2WikiMultihopQA share: paragraphs as lists of sentences, and supporting facts."""

from typing import Any

from factpin.documents import Document, Question, Span
from factpin.documents.fields import as_dict, as_int, as_list, as_str, as_strings, get_list, get_str, wrong
from factpin.formats._reading import ReadContext
from factpin.formats.questions._answers import Site, is_yes_no
from factpin.formats.questions._records import context, join_sentences
from factpin.language.identify import find_language

COMPARED = ("comparison", "bridge_comparison")  # types of questions that name what they choose from
KNOWN = {"_id", "id", "question", "answer", "supporting_facts", "context", "evidences"}
Places = list[tuple[str, list[int | None]]]  # of every paragraph: its title, and the new index of each sentence


def parse(reading: ReadContext, record: Any, line: int) -> Question:
    """The question of a record, without steps."""
    record = as_dict(record, "")
    id = str(record.get("_id", record.get("id", reading.default_id(line))))
    site = Site(reading, line, id)
    text = get_str(record, "question")
    language = find_language(text)
    documents, places = _contexts(record, language)
    support = _support(record, places, site)
    answer = get_str(record, "answer", default="")
    yes_no = is_yes_no(answer)
    compared = record.get("type") in COMPARED
    return Question(
        id=id,
        text=text,
        language=language,
        answers=(answer.lower() if yes_no else answer,) if answer else (),
        kind="yes_no" if yes_no else "choice" if compared else "",
        context=documents,
        spans=() if yes_no or not answer else _spans(answer, documents, support, site),
        support=support,
        meta={key: value for key, value in record.items() if key not in KNOWN},
    )


def _contexts(record: dict[str, Any], language: str | None) -> tuple[tuple[Document, ...], Places]:
    documents, places = list[Document](), Places()
    for i, row in enumerate(_rows(record, "context", "sentences")):
        title, sentences = as_str(row[0], f"context[{i}]"), as_strings(row[1], f"context[{i}]")
        text, spans, became = join_sentences(sentences)
        documents.append(context(text, title, language, spans))
        places.append((title, became))
    return tuple(documents), places


def _support(record: dict[str, Any], places: Places, site: Site) -> tuple[tuple[int, int], ...]:
    """(context, sentence) of every supporting fact in the context."""
    found = dict[tuple[int, int], None]()
    for i, row in enumerate(_rows(record, "supporting_facts", "sent_id")):
        title, index = as_str(row[0], f"supporting_facts[{i}]"), as_int(row[1], f"supporting_facts[{i}]")
        hits = [(c, became[index]) for c, (name, became) in enumerate(places) if name == title and _has(became, index)]
        sentence = hits[0][1] if hits else None
        if sentence is None:
            site.note("support_not_found", f"sentence {index} of {title!r} is not in the context")
        else:
            found[hits[0][0], sentence] = None
    return tuple(found)


def _has(became: list[int | None], index: int) -> bool:
    return 0 <= index < len(became) and became[index] is not None


def _rows(record: dict[str, Any], key: str, second: str) -> list[list[Any]]:
    """The pairs of a field, given as rows [title, x] or as columns {"title": […], second: […]}."""
    value = record.get(key)
    if isinstance(value, dict):
        columns = [get_list(value, name, key) for name in ("title", second)]
        if len(columns[0]) != len(columns[1]):
            raise wrong(value, key, "columns of the same length")
        return [list(row) for row in zip(*columns, strict=True)]
    rows = [as_list(row, f"{key}[{i}]") for i, row in enumerate(get_list(record, key, default=[]))]
    for i, row in enumerate(rows):
        if len(row) != 2:
            raise wrong(row, f"{key}[{i}]", "a pair")
    return rows


def _spans(
    answer: str, documents: tuple[Document, ...], support: tuple[tuple[int, int], ...], site: Site
) -> tuple[tuple[int, Span], ...]:
    """The answer in the supporting sentences, or in their paragraphs if it is in none of them."""
    places = dict.fromkeys(index for index, _ in support)
    found = [(index, span) for index in places for span in site.search(documents[index].text, answer)]
    proving = [(index, documents[index].sentences[sentence]) for index, sentence in support]
    found = [pair for pair in found if _inside(pair, proving)] or found
    if not found:
        site.note("answer_not_found", f"{answer!r} is in no supporting paragraph")
    return tuple(found[: len(site.chosen([span for _, span in found], answer))])


def _inside(place: tuple[int, Span], sentences: list[tuple[int, Span]]) -> bool:
    index, (start, end) = place
    return any(index == i and first <= start and end <= last for i, (first, last) in sentences)
