"""One body for every format in the table: every entry of FORMATS is tested here."""

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factpin import formats
from factpin.documents import Document, canonical
from factpin.errors import BadInput, FormatLoss
from factpin.formats import FORMATS, NO_ANNOTATION, Options
from tests.formats.strategies import documents

SAMPLES = Path(__file__).parent / "samples"
EVERYTHING = FORMATS["jsonl"].HOLDS
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def same(read: Document, written: Document) -> None:
    """Equal in content. Ids are names; one sentence or none is the format's habit; so is naming a language."""
    if len(written.sentences) <= 1:
        read = replace(read, sentences=written.sentences)
    if written.language is None:
        read = replace(read, language=None)
    assert canonical(replace(read, id="x")) == canonical(replace(written, id="x"))


def fresh(path: Path) -> Path:
    """A path at which nothing is."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    return path


def sample(name: str) -> Path:
    found = [p for p in SAMPLES.iterdir() if p.name.split(".")[0] == name]
    assert len(found) == 1, f"tests/formats/samples/ needs one sample named {name}.*"
    return found[0]


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_holds_comes_back(name: str, tmp_path: Path) -> None:
    holding = []

    @settings(
        QUICK, max_examples=300 if name in ("triples", "duie", "duee") else 60
    )  # strings without offsets: few fit
    @given(st.one_of(documents(FORMATS[name].HOLDS), documents(FORMATS[name].HOLDS, plain=True)))
    def check(doc: Document) -> None:
        if formats.losses(doc, name):
            return
        path = fresh(tmp_path / f"file{FORMATS[name].ENDING}")
        formats.write([doc], path, format=name)
        (back,) = formats.read(path, format=name)
        same(back, doc)
        holding.append(len(doc.mentions) if "mentions" in FORMATS[name].HOLDS else 1)

    check()
    assert sum(holding) > 10, "hardly any generated document fits the format: this proves nothing"


@pytest.mark.parametrize("name", [name for name in FORMATS if FORMATS[name].HOLDS != EVERYTHING])
def test_what_a_format_cannot_hold_is_named_and_stops_the_writing(name: str, tmp_path: Path) -> None:
    @QUICK
    @given(documents(EVERYTHING))
    def check(doc: Document) -> None:
        path = fresh(tmp_path / f"file{FORMATS[name].ENDING}")
        lost = formats.losses(doc, name)
        if not lost:
            return
        if lost.keys() <= NO_ANNOTATION:  # scores, coverage
            assert formats.write([doc], path, format=name) == lost
            path = fresh(path)
        else:
            with pytest.raises(FormatLoss) as caught:
                formats.write([doc], path, format=name)
            assert formats.describe(lost) in str(caught.value)
            assert not path.exists()
        assert formats.write([doc], path, format=name, options=Options(lossy=True)) == lost
        for back in formats.read(path, format=name):
            assert all(back.text[m.start : m.end] == m.text for m in back.mentions)

    check()


@pytest.mark.parametrize("name", FORMATS)
def test_the_sample_is_guessed_read_and_written_without_change(name: str, tmp_path: Path) -> None:
    assert formats.guess(sample(name)) == name
    before = list(formats.read(sample(name)))
    assert before
    path = tmp_path / f"file{FORMATS[name].ENDING}"
    formats.write(before, path, format=name)
    after = list(formats.read(path, format=name))
    assert len(after) == len(before)
    for a, b in zip(after, before, strict=True):
        same(a, b)


@pytest.mark.parametrize("target", FORMATS)
def test_mentions_equal_their_slices_on_every_path_between_two_formats(target: str, tmp_path: Path) -> None:
    for source in FORMATS:
        path = tmp_path / source / f"file{FORMATS[target].ENDING}"
        lossy = Options(lossy=True)
        formats.write(formats.read(sample(source)), path, format=target, options=lossy)
        docs = list(formats.read(path, format=target, options=lossy))
        assert all(d.text[m.start : m.end] == m.text for d in docs for m in d.mentions)


def test_losses_are_counted_in_english() -> None:
    one = {"entities": 1, "facts left without an end": 1, "mentions inside a token": 1, "same spans": 1, "spacing": 1}
    assert formats.describe(Counter(one)) == (
        "1 entity, 1 fact left without an end, 1 mention inside a token, 1 same span, 1 spacing"
    )
    many = {"coverage": 1, "language": 2, "scores": 1200, "facts": 3, ".xyz": 1, ".css": 1}
    assert formats.describe(Counter(many)) == (
        "1 .css, 1 .xyz, coverage of 1 document, 3 facts, language of 2 documents, 1,200 scores"
    )


def test_a_pipe_is_not_read_as_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="--from"):
        formats.guess(tmp_path / "pipe")
