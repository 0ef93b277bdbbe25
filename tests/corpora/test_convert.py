import json
from pathlib import Path

import pytest

from factpin import formats
from factpin.corpora.convert import convert
from factpin.documents import Document, canonical
from factpin.errors import BadInput
from factpin.formats import Options

DATA = Path(__file__).parents[3] / "shared" / "data"
SAMPLES = Path(__file__).parents[1] / "formats" / "samples"


@pytest.mark.parametrize("ending", ["", ".xz", ".gz", ".zst"])
def test_packed_files_are_what_they_hold(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"a.jsonl{ending}"
    done = convert(SAMPLES / "cluener.json", target)
    assert (done.documents, done.source_format, done.target_format) == (3, "cluener", "jsonl")
    assert len(list(formats.read(target))) == 3


@pytest.mark.skipif(not DATA.exists(), reason="the corpora of ../shared/data are not beside this checkout")
def test_cluener_to_native_and_back_is_equal_in_content(tmp_path: Path) -> None:
    source = DATA / "cluener" / "train.json.xz"
    convert(source, tmp_path / "native.jsonl")
    convert(tmp_path / "native.jsonl", tmp_path / "back.json", target_format="cluener")

    def content(path: Path) -> list[Document]:
        return [canonical(doc) for doc in formats.read(path, format="cluener")]

    before = content(source)
    assert before == content(tmp_path / "back.json")
    assert len(before) == 10748 and sum(len(doc.mentions) for doc in before) == 23971


def test_a_long_list_is_never_held_whole(tmp_path: Path) -> None:
    """The reader of JSON lists yields the first document long before the file ends, and survives a cut."""
    path = tmp_path / "long.json"
    item = '{"text": "Ann lives in Rome .", "triple_list": [["Ann", "lives in", "Rome"]]}'
    path.write_text("[" + ",".join([item] * 30_000))  # more than two buffers, and no end
    report = formats.Report()
    read = formats.read(path, format="triples", options=Options(skip_bad=True), report=report)
    assert next(read).text == "Ann lives in Rome ."
    assert sum(1 for _ in read) == 29_999
    assert report.rejected == 1


def test_what_follows_a_broken_item_of_a_list_is_set_aside_whole(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    items = [f'{{"text": "Ann lives in Rome {i} .", "triple_list": [["Ann", "r", "Rome"]]}}' for i in range(30_000)]
    items[20_000] = '{"text": "broken'
    path.write_text("[" + ",\n".join(items) + "]")
    done = convert(path, tmp_path / "out.jsonl", source_format="triples", options=Options(skip_bad=True))
    assert done.documents == 20_000 and done.rejects is not None
    rejects = [json.loads(line) for line in done.rejects.read_text().splitlines()]
    assert "".join(r["record"] for r in rejects) == ",\n".join(items[20_000:]) + "]"


def test_a_file_is_never_written_onto_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    convert(SAMPLES / "cluener.json", path)
    before = path.read_bytes()
    with pytest.raises(BadInput, match="the same file"):
        convert(path, path)
    assert path.read_bytes() == before
