"""`index`: what is read again and what is not, what goes, what is set aside."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from factpin.documents import Document, Span, to_json
from factpin.extraction.annotator import Annotator
from factpin.extraction.index import IndexReport, index
from factpin.extraction.inputs import find_inputs
from factpin.language.sentences import split_sentences
from factpin.memory import Source, Store, TypedFact, open_store
from tests.memory.world import Said, tell


class Models:
    """Finds nothing, and counts what it was asked to read."""

    def __init__(self, name: str = "nothing:1") -> None:
        self.read: list[str] = []
        self.annotator = Annotator(name, self.annotate)

    def annotate(self, documents: Sequence[Document]) -> Iterable[Document]:
        for doc in documents:
            self.read.append(doc.text)
            yield replace(doc, language="zh", sentences=tuple(Span(*s) for s in split_sentences(doc.text)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "kb.db"), create=True)


def files(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, store: Store, models: Models | None = None, *, remove: bool = False) -> IndexReport:
    inputs, _ = find_inputs([folder])
    annotator = models.annotator if models else None
    return index(inputs, store, annotator, missing_from=[folder] if remove else [])


def test_the_same_files_twice_cost_nothing(tmp_path: Path, store: Store) -> None:
    folder = files(tmp_path / "news", a="谷爱凌出生于旧金山。", b="姚明出生于上海。")
    models = Models()
    assert run(folder, store, models).added == 2
    report = run(folder, store, models)
    assert (report.unchanged, report.added, report.replaced, report.removed, len(models.read)) == (2, 0, 0, 0, 2)
    files(folder, b="姚明出生在上海。")
    report = run(folder, store, models)
    assert (report.unchanged, report.replaced, models.read[2:]) == (1, 1, ["姚明出生在上海。"])
    other = Models("nothing:2")
    assert run(folder, store, other).replaced == 2 and len(other.read) == 2  # other models may find other facts
    assert store.check() == []


def test_missing_files_are_removed_when_asked_for(tmp_path: Path, store: Store) -> None:
    folder, others = files(tmp_path / "news", a="一。", b="二。"), files(tmp_path / "others", c="三。")
    typed = store.add(TypedFact("甲", "乙", "丙"))
    for place in (folder, others):
        run(place, store)
    (folder / "b.txt").unlink()
    assert run(folder, store).removed == 0
    assert run(folder, store, remove=True).removed == 1
    assert {s.uri for s in store.sources()} == {f"{folder}/a.txt", f"{others}/c.txt", typed}


def test_a_bad_file_is_set_aside_and_stays_what_it_was(tmp_path: Path, store: Store) -> None:
    folder = files(tmp_path / "news", a="一。", b="二。")
    run(folder, store)
    (folder / "b.txt").write_bytes(b"\xff\xfe\xff")
    (folder / "c.txt").write_text("nul \x00 here", encoding="utf-8")
    report = run(folder, store, remove=True)
    assert [r.place for r in report.rejects] == [f"{folder}/b.txt", f"{folder}/c.txt"] and report.removed == 0
    assert "not UTF-8" in report.rejects[0].reason and "NUL" in report.rejects[1].reason
    assert {s.uri for s in store.sources()} == {f"{folder}/a.txt", f"{folder}/b.txt"}


def test_records_of_jsonl_are_documents_with_what_they_bring(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "facts.jsonl"
    doc = tell(Said("谷爱凌", "出生地", "旧金山", score=0.2), id="gu")
    dated = replace(doc, id="dated", meta={"title": "谷爱凌", "published": "2022-02-08T10:00:00Z"})
    records = [to_json(doc), to_json(dated), to_json(doc), {"text": 5}]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    report = run(path, store)
    assert (report.added, len(report.rejects)) == (2, 2)
    assert "occurs twice" in " ".join(r.reason for r in report.rejects)
    sources = {s.uri.split("#")[1]: s for s in store.sources()}
    assert (sources["dated"].title, sources["dated"].published) == ("谷爱凌", "2022-02-08")
    assert [fact.confidence for fact in store.judged()] == [pytest.approx(0.2)]  # unlikely facts are kept
    path.write_text(json.dumps(to_json(dated)), encoding="utf-8")
    report = run(path, store, remove=True)
    assert (report.unchanged, report.removed) == (1, 1) and {s.uri for s in store.sources()} == {f"{path}#dated"}


def test_markdown_has_a_title(tmp_path: Path, store: Store) -> None:
    (tmp_path / "a.md").write_text("\n# Ed Wood\n\nA film.\n", encoding="utf-8")
    run(tmp_path / "a.md", store)
    assert store.sources() == [Source(f"{tmp_path}/a.md", "Ed Wood")]


def test_indexing_goes_on_where_it_was_stopped(tmp_path: Path, store: Store) -> None:
    folder = files(tmp_path / "news", **{f"n{i:02}": f"第{i}篇。" for i in range(40)})

    class Stopped(Exception):
        pass

    models = Models()

    def stop(documents: Sequence[Document]) -> Iterable[Document]:
        if len(models.read) >= 32:
            raise Stopped
        return models.annotate(documents)

    with pytest.raises(Stopped):
        index(find_inputs([folder])[0], store, Annotator("nothing:1", stop))
    assert len(store.sources()) == 32 and store.check() == []
    report = run(folder, store, models)
    assert (report.added, report.unchanged, len(models.read)) == (8, 32, 40)
