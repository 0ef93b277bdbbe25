"""Long documents are read by what a judge keeps, and answers are exact spans of the document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from factpin.answers.ask import ask
from factpin.answers.cogltx import Recall, cut_blocks
from factpin.answers.cogltx_judge import RecalledText
from factpin.answers.cogltx_reader import LongReader
from factpin.answers.passages import AnswerSpan
from factpin.app.commands.ask import ask as command
from factpin.documents import Answer, Document, Passage, Span
from factpin.documents.keys import passage_key
from factpin.errors import BadInput
from factpin.memory import Source, open_store
from factpin.models.judge_folder import load_judge
from factpin.models.readers import Readers
from factpin.tokens.small import build_tokenizer
from factpin.training.plan import make_plan
from factpin.training.reader_long import recalled, recalled_questions
from factpin.training.reader_options import ReaderOptions
from tests.answers.long_world import QUICK, long_encoder, long_questions, trained_judge


@pytest.fixture(scope="module")
def long_reader(home: Path) -> Path:
    """A reader that has learned from what the judge keeps."""
    folder = home / "long-reader"
    settings = {"encoder": str(long_encoder(home)), "max_length": 64, "overlap": 8, "long": "memrecall",
                "judge": str(trained_judge(home)[0]), "language": "zh"}  # fmt: skip
    plan = replace(make_plan("reader", settings), how=replace(QUICK, epochs=20))
    report = plan.run(long_questions(120, 1), long_questions(40, 2), folder, quiet=True)
    assert report["scores"]["f1"] > 0.8
    return folder


def test_questions_keep_their_gold_and_spans_stay_exact(home: Path) -> None:
    judge = load_judge(trained_judge(home)[0])
    for question in long_questions(20, 3):
        taught = recalled(question, judge, with_gold=True)
        assert taught.span_texts() == question.span_texts() and len(taught.context) == 1
        assert len(taught.context[0].text) < len(question.context[0].text)
        for used in recalled_questions([question], judge, with_gold=False):
            assert set(used.span_texts()) <= set(question.span_texts())
    bare = replace(long_questions(1, 3)[0], context=(), spans=(), support=())
    assert recalled(bare, judge, with_gold=True) is bare


def test_a_long_document_is_asked_and_the_citation_is_exact(home: Path, long_reader: Path) -> None:
    judge, readers, right = load_judge(trained_judge(home)[0]), Readers({"": long_reader}), 0
    for question in long_questions(10, 8):
        text = question.context[0].text
        with open_store("memory:", create=True) as store:
            store.put(question.context[0], Source("long.txt"))
            reader = LongReader(readers, judge, lambda document, text=text: text)
            answer = ask(question.text, store, "extract", 0.0, 1, reader=reader)
            for citation in answer.citations:
                citation.check(text)
            right += answer.text in question.answers
    assert right >= 7


WEATHER = "The weather was fine and nothing happened on that long day by the river. "
LIFE = f"Anna Weber was an engineer. {WEATHER * 12}She was born in Rome in 1901. {WEATHER * 12}"


@dataclass
class NamedBlocks:
    """Keeps the blocks that have certain words."""

    words: tuple[str, ...]

    def recall(self, query: str, texts: Sequence[str]) -> RecalledText:
        blocks = cut_blocks(texts, build_tokenizer([LIFE], vocab_size=300), 12)
        said = [texts[block.document][block.span.start : block.span.end] for block in blocks]
        kept = [i for i, text in enumerate(said) if any(word in text for word in self.words)]
        return RecalledText(tuple(texts), tuple(blocks), Recall(tuple(kept)))


@dataclass
class WordReader:
    """Finds a word, or says yes of what it read."""

    word: str
    choice: str = ""

    def reads(self, question: str) -> bool:
        return True

    def min_score(self, question: str) -> float:
        return 0.5

    def read(self, question: str, passages: Sequence[Passage]) -> list[AnswerSpan]:
        spans = [(p, p.start + p.text.find(self.word)) for p in passages if self.word in p.text]
        return [AnswerSpan(p, Span(at, at + len(self.word)), 0.9, self.choice) for p, at in spans]


def asked_about_anna(question: str, words: tuple[str, ...], choice: str = "") -> Answer:
    with open_store("memory:", create=True) as store:
        store.put(Document("anna", LIFE), Source("anna.txt"))
        return ask(question, store, "extract",
                   reader=LongReader(WordReader("Rome", choice), NamedBlocks(words), lambda _: LIFE))  # fmt: skip


def test_the_name_of_a_question_may_be_in_another_part_than_its_answer() -> None:
    answer = asked_about_anna("Where was Anna Weber born?", ("Anna", "Rome"))
    assert answer.text == "Rome"
    for citation in answer.citations:
        citation.check(LIFE)
    assert asked_about_anna("Where was Anna Weber born?", ("born", "Rome")).abstained  # nobody says who was born


def test_yes_and_no_cite_the_part_that_is_closest_to_the_question() -> None:
    answer = asked_about_anna("Was she born in Rome?", ("Anna", "Rome"), "yes")
    assert answer.text == "yes" and [c.quote for c in answer.citations] == ["She was born in Rome in 1901."]


def test_passages_of_a_document_that_is_gone_are_read_as_they_were_found() -> None:
    shown = Passage(passage_key("gone", 0, 40), "gone", 0, 40, "Anna went to Rome, and nobody knows why.")
    found = LongReader(WordReader("Rome"), NamedBlocks(("Rome",)), lambda _: "").read("Where did Anna go?", [shown])
    assert [reading.passage for reading in found] == [shown]


def test_ask_takes_a_judge(home: Path, long_reader: Path, tmp_path: Path) -> None:
    question = long_questions(1, 8)[0]
    db = tmp_path / "kb.db"
    with open_store(str(db), create=True) as store:
        store.put(question.context[0], Source("long.txt"))
    words = [question.text, "--db", str(db), "--reader", str(long_reader), "--judge", str(trained_judge(home)[0])]
    shown = CliRunner().invoke(command, [*words, "--mode", "extract", "--min-score", "0"], standalone_mode=False)
    assert shown.exception is None and "long.txt:" in shown.output


def test_a_judge_and_memrecall_belong_together() -> None:
    with pytest.raises(BadInput, match="belong together"):
        ReaderOptions(long="memrecall")
    with pytest.raises(BadInput, match="belong together"):
        ReaderOptions(judge="runs/judge")
