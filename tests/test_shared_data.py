"""Every corpus of ../shared/data in a format of ours, by `factpin doctor`, against the counts of its SOURCE.txt."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from factpin.corpora.doctor import doctor

DATA = Path(__file__).parents[2] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the corpora of ../shared/data are not beside this checkout")

CLUENER = {"name": 3755, "organization": 3210, "position": 3141, "company": 2980, "address": 2891, "game": 2376,
           "government": 1835, "scene": 1521, "book": 1139, "movie": 1123}  # fmt: skip
COUNTS: dict[str, dict[str, Any]] = {
    "cluener/train.json.xz": {"documents": 10748, "sentences": 10748, "mentions": 23971, "labels": CLUENER,
                              "duplicates": 0},
    "cluener/dev.json.xz": {"documents": 1343, "mentions": 3072},
    "cluener/test.json.xz": {"documents": 1345, "mentions": 0},
    "msra/val": {"documents": 3000, "characters": 142980, "mentions": 5011,
                 "labels": {"LOC": 2414, "ORG": 1394, "PER": 1203}},
    "msra/test": {"documents": 3442, "characters": 172601, "mentions": 6190, "duplicates": 5},
    "wnut17/wnut17train.conll.xz": {"sentences": 3394, "mentions": 1975, "#labels": 6},
    "wnut17/emerging.dev.conll.xz": {"sentences": 1009, "mentions": 836},
    "wnut17/emerging.test.annotated.xz": {"sentences": 1287, "mentions": 1079},
    "genia/dev.jsonlines.xz": {"documents": 1765, "mentions": 4714, "nested": 444,
                               "labels": {"protein": 2466, "DNA": 1161, "cell_type": 576, "cell_line": 372}},
    "genia/test.jsonlines.xz": {"documents": 1732, "mentions": 5119, "nested": 603},
    "germeval14/germ.train.iob2.xz": {"sentences": 24000, "mentions": 29078 + 2467, "#labels": 12},
    "germeval14/germ.dev.iob2.xz": {"sentences": 2200, "mentions": 2674 + 212},
    "germeval14/germ.test.iob2.xz": {"sentences": 5100, "mentions": 6178 + 515},
    "webnlg/WebNLG/train_triples.json.xz": {"documents": 5019, "facts": 11313, "#relations": 211},
    "webnlg/WebNLG/val_triples.json.xz": {"documents": 500, "facts": 1224, "#relations": 144},
    "webnlg/WebNLG/test_triples.json.xz": {"documents": 703, "facts": 1607, "#relations": 149},
    "webnlg/WebNLG-star/train_triples.json.xz": {"documents": 5019, "facts": 11776, "#relations": 170},
    "webnlg/WebNLG-star/val_triples.json.xz": {"documents": 500, "facts": 1118, "#relations": 110},
    "webnlg/WebNLG-star/test_triples.json.xz": {"documents": 703, "facts": 1591, "#relations": 125},
    "nyt/NYT/val_triples.json.xz": {"documents": 5000, "facts": 8489, "unfound": 47},
    "nyt/NYT/test_triples.json.xz": {"documents": 5000, "facts": 8616, "unfound": 44},
    "nyt/NYT-star/val_triples.json.xz": {"documents": 4999, "facts": 7976},
    "nyt/NYT-star/test_triples.json.xz": {"documents": 5000, "facts": 8110},
    "duie/duie2_train_a.json.xz": {"documents": 5000, "facts": 8945, "#relations": 46, "qualified": 313},
    "duie/duie2_train_b.json.xz": {"documents": 4398, "facts": 7999, "#relations": 46, "qualified": 288},
    "duie/duie2_dev.json.xz": {"documents": 2000, "facts": 3656, "#relations": 45, "qualified": 100},
    "duie/duie1_train.json.xz": {"documents": 2601, "facts": 5293, "#relations": 48, "unfound": 10},
    "duie/duie1_dev.json.xz": {"documents": 1000, "facts": 2073, "#relations": 44},
    "duie/duie1_17rel_triples.json.xz": {"documents": 11191, "facts": 17026, "#relations": 17},
    "scierc/train.json.xz": {"documents": 350, "sentences": 1861, "facts": 3219, "#relations": 7},
    "scierc/dev.json.xz": {"documents": 50, "sentences": 275, "facts": 455},
    "scierc/test.json.xz": {"documents": 100, "sentences": 551, "facts": 974},
    "cdr/CDR_TrainingSet.PubTator.txt.xz": {"documents": 500, "labels": {"Chemical": 5203, "Disease": 4182},
                                            "relations": {"CID": 1038}},
    "cdr/CDR_DevelopmentSet.PubTator.txt.xz": {"documents": 500, "labels": {"Chemical": 5347, "Disease": 4244},
                                               "relations": {"CID": 1012}},
    "cdr/CDR_TestSet.PubTator.txt.xz": {"documents": 500, "labels": {"Chemical": 5385, "Disease": 4424},
                                        "relations": {"CID": 1066}},
    "cdr/atlop/train.data.xz": {"documents": 500, "relations": {"CID": 1038}},
    "cdr/atlop/train_filter.data.xz": {"documents": 500, "relations": {"CID": 1038}},
    "cdr/atlop/dev.data.xz": {"documents": 500, "relations": {"CID": 1012}},
    "cdr/atlop/dev_filter.data.xz": {"documents": 500, "relations": {"CID": 1012}},
    "cdr/atlop/test.data.xz": {"documents": 500, "relations": {"CID": 1066}},
    "cdr/atlop/test_filter.data.xz": {"documents": 500, "relations": {"CID": 1066}},
    "redocred/dev_revised.json.xz": {"documents": 500, "sentences": 4110, "entities": 9684, "mentions": 13189,
                                     "facts": 17284, "evidence": 7473, "#relations": 95},
    "redocred/test_revised.json.xz": {"documents": 500, "sentences": 3966, "entities": 9779, "mentions": 13018,
                                      "facts": 17448, "evidence": 7547, "#relations": 95},
}  # fmt: skip


@pytest.mark.parametrize("path", COUNTS)
def test_the_counts_are_those_of_its_source(path: str) -> None:
    report = doctor([DATA / path])
    unfound = sum(file["notes"].get("argument_not_found", 0) for file in report["files"])
    for key, wanted in COUNTS[path].items():
        if key.startswith("#"):
            # relations that occur only in facts whose arguments are nowhere in the text count as well
            found: Any = len(report[key[1:]])
        elif key == "facts":
            found = report["facts"] + unfound
        elif key == "unfound":
            found = unfound
        elif key == "labels":
            found = {label: report["labels"].get(label) for label in wanted}
        else:
            found = report[key]
        assert found == wanted, key
    assert report["rejected"] == 0


@pytest.mark.parametrize(
    "paths, leaked",
    [
        (["duie/duie2_train_a.json.xz", "duie/duie2_dev.json.xz"], 2),
        (["duie/duie1_train.json.xz", "duie/duie2_dev.json.xz"], 151),
        (["duie/duie1_dev.json.xz", "duie/duie2_dev.json.xz"], 50),
        # SOURCE.txt says 32, counted letter by letter and each text once: one of them is in test twice,
        # and one more differs in blanks alone
        (["nyt/NYT/val_triples.json.xz", "nyt/NYT/test_triples.json.xz"], 34),
        (["cluener/train.json.xz", "cluener/dev.json.xz"], 0),
    ],
)
def test_known_leaks_are_found(paths: list[str], leaked: int) -> None:
    report = doctor([DATA / path for path in paths])
    assert report["leaked"] == leaked
    assert report["ok"] is (leaked == 0)


def test_the_command_says_the_same() -> None:
    words = [sys.executable, "-m", "factpin", "doctor", str(DATA / "cluener" / "dev.json.xz"), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHONUTF8": "1"})
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert (report["documents"], report["mentions"], report["ok"]) == (1343, 3072, True)
