"""The scorer of coreference on documents: what it may decide, what it may not, and where `extract` uses it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from factpin.documents import Argument, Document, Entity, Event, Fact, Mention
from factpin.errors import BadInput
from factpin.extraction.extract import extract, group_mentions, load_models
from factpin.language.coreference import ordered, resolve
from factpin.models.extractor import Extractor
from factpin.tasks.coreference.finder import CoreferenceFinder
from factpin.tasks.coreference.task import COREFERENCE, CoreferenceOptions
from factpin.tasks.examples import DocumentBatch, DocumentExample
from factpin.training.run import start
from tests.language.test_coreference import clusters, marked
from tests.models.small_coreference import corpus, partition, small_encoder_folder
from tests.models.small_model import small_model

NOTE = "by rules and a model"


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Extractor:
    folder = small_encoder_folder(tmp_path_factory.mktemp("find_coreference"))
    return start(COREFERENCE, CoreferenceOptions(str(folder), size=16), corpus(2, 1), seed=0)


def opinion(extractor: Extractor, score: float) -> Extractor:
    """A scorer that says the same of every pair: far above 0, that they are one; far below, that they are not."""
    with torch.no_grad():
        extractor.model.head.score.weight.zero_()
        extractor.model.head.score.bias.fill_(score)
    return extractor


def few(extractor: Extractor) -> CoreferenceFinder:
    """Four candidates for each mention."""
    finder: CoreferenceFinder = extractor.finder  # type: ignore[assignment]
    return replace(finder, antecedents=4)


def asked(extractor: Extractor, doc: Document) -> DocumentExample:
    _, example = few(extractor).ask(extractor.read(doc))
    assert example is not None
    return example


@pytest.mark.parametrize(
    ("case", "score"),
    [
        ("[1:John Smith] met [2:Mary Smith]. [1:Smith] left.", 50.0),  # names that quarrel, whatever it says
        ("[1:张伟]见了[2:李伟]。[1:张伟]走了。", 50.0),
        ("[1:Mr. Smith] met [2:Mrs. Smith].", 50.0),
        ("[1:Anna Weber] met [2:Tom Hill]. [2:He] left.", 1.0),  # strangers, where it is not sure
        ("[1:Anna Weber] met [2:Tom Hill].", 2.0),
    ],
)
def test_no_weak_word_of_a_scorer_makes_two_people_one(untrained: Extractor, case: str, score: float) -> None:
    came = marked(case, "PER")
    (doc,) = opinion(untrained, score).annotate([came])
    one, other, *_ = came.mentions
    assert not any({one.id, other.id} <= set(entity.mentions) for entity in doc.entities)


def test_a_scorer_that_is_sure_may_know_a_second_name(untrained: Extractor) -> None:
    (doc,) = opinion(untrained, 50.0).annotate([marked("[1:Cassius Clay] won. [1:Muhammad Ali] lost.", "PER")])
    assert len(doc.entities) == 1


def test_a_scorer_joins_what_nothing_forbids_and_parts_what_rules_would_join(untrained: Extractor) -> None:
    doc = marked("[1:alpha] beside [2:beta], and [1:alpha] again.", "x")
    (joined,) = opinion(untrained, 50.0).annotate([doc])
    assert clusters(joined) == {("alpha@0", "alpha@23", "beta@13")}
    (parted,) = opinion(untrained, -50.0).annotate([doc])
    assert clusters(parted) == {("alpha@0",), ("alpha@23",), ("beta@13",)}
    assert clusters(resolve(doc)) == {("alpha@0", "alpha@23"), ("beta@13",)}


def test_scores_do_not_depend_on_the_documents_beside(untrained: Extractor) -> None:
    model = untrained.model.eval()
    torch.manual_seed(1)
    torch.nn.init.normal_(model.head.score.weight)
    texts = (*corpus(3, 5), *corpus(1, 6, "Nobody spoke. " * 30))
    documents = [asked(untrained, doc) for doc in texts]
    with torch.no_grad():
        together = model.scores(DocumentBatch(tuple(documents), untrained.tokenizer))
        alone = torch.cat([model.scores(DocumentBatch((one,), untrained.tokenizer)) for one in documents])
    assert len(documents[-1].windows) > 1
    torch.testing.assert_close(together, alone, atol=1e-4, rtol=1e-4)


def test_a_mention_is_all_pieces_that_share_a_character_with_it(untrained: Extractor) -> None:
    doc = corpus(1, 5)[0]
    read = untrained.reader.read(doc)
    y, _ = few(untrained).ask(read)
    for mention, (first, last) in zip(ordered(doc), y.tokens(0), strict=True):
        inside = [i for i, (s, e) in enumerate(zip(read.pieces.start, read.pieces.end, strict=True))
                  if s < mention.end and mention.start < e]  # fmt: skip
        assert list(range(first, last + 1)) == inside


def test_a_mention_that_no_piece_holds_is_left_to_the_rules_and_named(untrained: Extractor) -> None:
    text = "aspirin   aspirin"
    blank = Mention("b", 7, 9, "  ", "drug")
    doc = Document("d", text, mentions=(Mention("a", 0, 7, "aspirin", "drug"), blank,
                                        Mention("c", 10, 17, "aspirin", "drug")))  # fmt: skip
    y, _ = few(untrained).ask(untrained.read(doc))
    assert y.unread == (blank,)
    assert y.candidates.antecedent.tolist() == [[-1, -1], [-1, -1], [-1, 0]]
    (found,) = opinion(untrained, 50.0).annotate([doc])
    assert {frozenset(("a", "c")), frozenset("b")} == partition(found)
    assert found.coverage is not None and [(u.start, u.end) for u in found.coverage.unread] == [(7, 9)]


@pytest.mark.parametrize("text", ["", " ", "Nobody spoke."])
def test_documents_without_mentions_go_through(untrained: Extractor, text: str) -> None:
    (doc,) = untrained.annotate([Document("d", text)])
    assert (doc.text, doc.entities) == (text, ())


def test_facts_and_events_follow_their_mentions_where_they_are_kept_and_else_go(untrained: Extractor) -> None:
    doc = marked("[1:alpha] beside [2:beta], and [3:alpha] again.", "x")
    event = Event("v", "seen", "m0", (Argument("who", "m1"),))
    doc = replace(doc, facts=(Fact("g3", "near", "g2", "m2", "m1"),), events=(event,))
    doc = replace(doc, entities=tuple(replace(e, link="Q1") for e in doc.entities))
    (found,) = opinion(untrained, -50.0).annotate([doc], keep=True)
    assert [found.entity(f.head).mentions for f in found.facts] == [("m2",)] and found.events == (event,)
    (found,) = opinion(untrained, -50.0).annotate([doc])
    assert (found.facts, found.events, {e.link for e in found.entities}) == ((), (), {""})


def test_what_could_not_be_read_is_told_by_gathering_too(untrained: Extractor) -> None:
    blank = Mention("b", 7, 9, "  ", "drug")
    doc = Document("d", "aspirin   aspirin", "en", mentions=(Mention("a", 0, 7, "aspirin", "drug"), blank))
    (found,) = group_mentions([doc], [opinion(untrained, 50.0)])
    assert found.coverage is not None and [(u.start, u.end) for u in found.coverage.unread] == [(7, 9)]


# ---- extract --------------------------------------------------------------------------------------------------------

TEXT = "Anna Weber was born in Berlin. Tom Hill was born in Rome."


def named(doc: Document) -> set[frozenset[str]]:
    return {frozenset(doc.mention(id).text for id in entity.mentions) for entity in doc.entities}


@pytest.fixture(scope="module")
def spans(encoder_folder: Path) -> Extractor:
    return load_models([small_model(encoder_folder)])[0]


def test_extract_asks_the_scorer_after_the_models_that_find(untrained: Extractor, spans: Extractor) -> None:
    (found,) = extract([Document("d", TEXT)], [opinion(untrained, 1.0), spans])
    assert {m.text for m in found.mentions} == {"Anna Weber", "Berlin", "Tom Hill", "Rome"}
    assert named(found) == {frozenset({"Anna Weber"}), frozenset({"Tom Hill"}), frozenset({"Berlin", "Rome"})}
    assert found.coverage is not None and NOTE in " ".join(found.coverage.notes) and not found.coverage.unread


def test_a_scorer_of_another_language_leaves_a_text_to_the_rules(untrained: Extractor, spans: Extractor) -> None:
    scorer = opinion(replace(untrained, settings=replace(untrained.settings, language="zh")), 50.0)
    en, zh = extract([Document("e", TEXT), Document("z", "王小明出生于北京。李雷出生于广州。")], [spans, scorer])
    assert named(en) == {frozenset({name}) for name in ("Anna Weber", "Tom Hill", "Berlin", "Rome")}
    assert en.coverage is not None and NOTE not in " ".join(en.coverage.notes)
    assert zh.coverage is not None and NOTE in " ".join(zh.coverage.notes)


def test_a_scorer_alone_has_nothing_to_ask_about(untrained: Extractor) -> None:
    with pytest.raises(BadInput, match="Add a model that finds mentions"):
        list(extract([Document("d", TEXT)], [untrained]))


def test_entities_that_came_along_do_not_reach_the_scorer(untrained: Extractor, spans: Extractor) -> None:
    old = Mention("old", 0, 4, "Anna", "x")
    came = Document("d", TEXT, mentions=(old,), entities=(Entity("e", ("old",)),))
    (found,) = extract([came], [spans, opinion(untrained, 50.0)])
    (plain,) = extract([Document("d", TEXT)], [spans, opinion(untrained, 50.0)])
    assert found == plain
