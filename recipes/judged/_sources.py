"""Sources of passages: readers that return only the texts of a source, by article.

A source is a corpus of ../shared/data that no shipped model was trained on, or a Debian package with prose, which is
downloaded by name. Texts keep their script and spelling; only line breaks, mark-up and escapes are removed.
"""

import gzip
import html
import json
import re
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from factpin import files
from factpin.errors import BadInput

SHARED = Path("../shared/data")
BY_SA_3, BY_SA_4 = "CC BY-SA 3.0", "CC BY-SA 4.0"
BLOCK = re.compile(r"</?(?:p|div|h[1-6]|li|ul|ol|dl|dt|dd|td|th|tr|table|br|hr|blockquote|body|title)\b[^>]*>", re.I)
TAG = re.compile(r"<[^>]+>")
PREFORMATTED = re.compile(r"<(pre|script|style)\b.*?</\1>", re.I | re.S)
LEGEND = re.compile(r'^legend\s*=\s*_\("(.*?)"\)', re.M | re.S)
ESCAPE = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\[&|/,]|\\s[-+]?\d")


class Text(NamedTuple):
    """A paragraph, and the article it belongs to."""

    article: str
    text: str


@dataclass(frozen=True)
class Source:
    """A source: how many passages it gives, and whether they have to name people, organisations or places."""

    name: str
    kind: str
    language: str
    count: int
    names: bool
    licence: str
    read: Callable[[Path], Iterator[Text]]
    needs: str = ""  # a pattern that the passage has to contain


# ---- corpora --------------------------------------------------------------------------------------------------------


def squad(*paths: str) -> Callable[[Path], Iterator[Text]]:
    """Paragraphs of reading comprehension files in SQuAD's layout."""

    def read(_: Path) -> Iterator[Text]:
        for path in paths:
            for i, article in enumerate(json.loads(files.read_text(SHARED / path))["data"]):
                name = article.get("title") or f"{path}/{i}"
                yield from (Text(name, flat(paragraph["context"])) for paragraph in article["paragraphs"])

    return read


def qed(_: Path) -> Iterator[Text]:
    """Paragraphs of QED."""
    for part in range(6):
        for _number, line in files.lines(SHARED / f"qed/nq-train-0{part}-qed.jsonlines.xz"):
            record = json.loads(line)
            yield Text(record["title_text"], flat(record["paragraph_text"]))


def hotpotqa(_: Path) -> Iterator[Text]:
    """First paragraphs of articles in HotpotQA."""
    for _number, line in files.lines(SHARED / "hotpotqa/distractor_dev.jsonl.xz"):
        for title, sentences in json.loads(line)["context"]:
            yield Text(title, flat("".join(sentences)))


def abstracts(_: Path) -> Iterator[Text]:
    """Abstracts of the CDR test set."""
    for _number, line in files.lines(SHARED / "cdr/CDR_TestSet.PubTator.txt.xz"):
        article, _, rest = line.partition("|")
        if rest.startswith("a|"):
            yield Text(article, flat(rest[2:]))


def wiki_zh(_: Path) -> Iterator[Text]:
    """Paragraphs of Chinese Wikipedia."""
    for article in files.read_text(SHARED / "wiki_zh/wiki_zh.txt.xz").split("\n\n"):
        title, *paragraphs = article.strip().split("\n")
        yield from (Text(title, flat(paragraph)) for paragraph in paragraphs)


# ---- Debian packages ------------------------------------------------------------------------------------------------


def package(name: str, pattern: str, parse: Callable[[bytes], Iterator[str]]) -> Callable[[Path], Iterator[Text]]:
    """Paragraphs of the files in a Debian package whose path fits `pattern`, in the order of their paths."""

    def read(folder: Path) -> Iterator[Text]:
        archive = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", str(download(name, folder))], check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as tar:
            for member in sorted(tar.getmembers(), key=lambda m: m.name):
                if member.isfile() and re.search(pattern, member.name):
                    stream = tar.extractfile(member)
                    raw = stream.read() if stream else b""
                    raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
                    yield from (Text(f"{member.name}/{i}", flat(text)) for i, text in enumerate(parse(raw)))

    return read


def download(name: str, folder: Path) -> Path:
    """The archive of a Debian package, from `folder` or else from the archive that apt knows."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{name}_*.deb")):
        subprocess.run(["apt-get", "download", name], cwd=folder, check=True, capture_output=True)
    found = sorted(folder.glob(f"{name}_*.deb"))
    if not found:
        raise BadInput(
            f"package {name} is not in {folder} and apt-get brought none; expected {name}_VERSION.deb there."
        )
    return found[-1]


def paragraphs(raw: bytes) -> Iterator[str]:
    """Parts of plain text between blank lines."""
    yield from re.split(r"\n\s*\n", raw.decode("utf-8", "replace"))


def page(raw: bytes) -> Iterator[str]:
    """Blocks of a web page."""
    text = raw.decode("utf-8", "replace")
    yield from (html.unescape(TAG.sub("", block)) for block in BLOCK.split(PREFORMATTED.sub("<p>", text)) if block)


def legends(raw: bytes) -> Iterator[str]:
    """The legend of a nation in a game."""
    yield from (text.replace("\\\n", "").replace('\\"', '"') for text in LEGEND.findall(raw.decode("utf-8", "replace")))


def definitions(raw: bytes) -> Iterator[str]:
    """Paragraphs of a dictionary; cross-references lose their braces."""
    for text in paragraphs(raw):
        yield re.sub(r"[{}]", "", text)


def manual(raw: bytes) -> Iterator[str]:
    """Runs of plain lines in a manual page."""
    text = re.sub(r"^[.'].*$", "", raw.decode("utf-8", "replace"), flags=re.M)
    yield from paragraphs(ESCAPE.sub("", text).replace("\\-", "-").replace("\\e", "\\").encode())


def flat(text: str) -> str:
    """The text on one line; a line break between Chinese characters leaves no space."""
    text = re.sub(r"(?<=[\u3000-\u9fff\uff00-\uffef])[^\S\n]*\n\s*(?=[\u3000-\u9fff\uff00-\uffef])", "", text)
    return " ".join(text.split())


# ---- the table ------------------------------------------------------------------------------------------------------

COURT = "none needed: decisions of courts have no copyright (Copyright Law of the PRC, article 5)"
FAQ = "free to copy and change under the notice of the Debian FAQ"
SOURCES = (
    Source("squad2", "encyclopedia", "en", 2, True, BY_SA_4, squad("squad2_half/dev-v2.0.cs224n.json.xz")),
    Source("qed", "encyclopedia", "en", 2, True, BY_SA_3, qed),
    Source("hotpotqa", "encyclopedia", "en", 2, True, BY_SA_4, hotpotqa),
    Source("freeciv-data", "game", "en", 4, True, "GPL-2+", package("freeciv-data", r"/nation/.*\.ruleset$", legends)),
    Source("debian-history", "history", "en", 3, True, "GPL-2+", package("debian-history", r"\.en\.html$", page)),
    Source("jargon-text", "dictionary", "en", 2, True, "public domain",
           package("jargon-text", r"\.txt\.gz$", paragraphs)),
    Source("dict-foldoc", "dictionary", "en", 1, True, "GFDL-1.1+",
           package("dict-foldoc", r"\.dict\.dz$", definitions)),
    Source("anarchism", "politics", "en", 2, True, "GPL-2", package("anarchism", r"\.html$", page)),
    Source("cdr", "science", "en", 2, False, "PubMed abstract, quoted in part", abstracts),
    Source("cail2019", "court", "zh", 6, True, COURT, squad("cail2019_reading/test_ground_truth.json.xz"), "某|×|Ｘ|X"),
    Source("cmrc2018", "encyclopedia", "zh", 2, True, BY_SA_4, squad("cmrc2018/cmrc2018_dev.json.xz")),
    Source("wiki_zh", "encyclopedia", "zh", 2, True, "CC BY-SA", wiki_zh),
    Source("drcd", "encyclopedia", "zh", 2, True, BY_SA_3, squad("drcd/DRCD_dev.json.xz", "drcd/DRCD_test.json.xz")),
    Source("xquad", "translation", "zh", 3, True, BY_SA_4, squad("xquad/xquad.zh.json.xz")),
    Source("debian-handbook", "handbook", "zh", 2, False, "GPL-2+ or CC BY-SA 3.0",
           package("debian-handbook", r"/zh-CN/.*\.html$", page)),
    Source("debian-faq", "questions", "zh", 2, False, FAQ, package("debian-faq-zh-cn", r"\.html$", page)),
    Source("manpages-zh", "manual", "zh", 1, False, "GFDL-1.2+", package("manpages-zh", r"/zh_CN/man[17]/", manual)),
)  # fmt: skip
