"""A model of `factpin pretrain --objective fae` as a folder, and as the mode `memory` of `ask`."""

from dataclasses import dataclass, field
from pathlib import Path

from factpin.answers.cite import citations_of, shared
from factpin.answers.parse import is_yes_no, parse_question
from factpin.answers.passages import Retrieval
from factpin.answers.reasoners import ReasonedAnswers
from factpin.answers.say import say
from factpin.documents import Answer, Hop
from factpin.documents.likely import LIKELY
from factpin.encoders import Encoder
from factpin.knowledge.asker import FactAsker, MemoryReader
from factpin.knowledge.tables import FactTable, read_facts, store_digest
from factpin.memory import Filter, JudgedFact
from factpin.memory.search import Search
from factpin.models.part_folder import PartNames, load_part, part_settings
from factpin.models.settings import Settings

MEMORY = "memory"


def memory_settings(size: int, digest: str, names: PartNames) -> Settings:
    """The settings of the folder; the facts are not in it. digest: of the store that it was trained on."""
    return part_settings(MEMORY, ("fact",), "fact_memory", names, {"size": size, "store": digest})


def load_memory(folder: Path | str, device: str = "cpu") -> MemoryReader:
    """A model from its folder; `MemoryReasoner` gives it the facts of a store."""

    def build(settings: Settings, encoder: Encoder) -> FactAsker:
        return FactAsker(encoder, settings.task_config["size"])

    _, model, tokenizer = load_part(folder, MEMORY, build)
    return MemoryReader(model.to(device), tokenizer)


@dataclass
class MemoryReasoner:
    """Answers from the facts of a store as they are when it is asked."""

    reader: MemoryReader
    _known: tuple[str, str] = field(default=("", ""), repr=False)

    def __call__(self, question: str, search: Search, k: int, filter: Filter) -> ReasonedAnswers:
        """Look the question up; the null fact and every other row take away from the score."""
        nothing = Retrieval((), {}, {})
        if is_yes_no(question):
            said = say("memory_yes_no", parse_question(question).language)
            return ReasonedAnswers([], LIKELY, nothing, 0, refusal=said)
        store = search.store
        state = (store_digest(store), filter.as_of)
        if state != self._known:
            self.reader.model.know(read_facts(store, filter), self.reader.tokenizer)
            self._known = state
        found, _ = self.reader.ask(question, store, filter, most=k)
        table = self.reader.model.table
        answers = [_answer(question, table, one.row, one.weight) for one in found]
        return ReasonedAnswers(answers, LIKELY, nothing, 0)


def _answer(question: str, table: FactTable, row: int, weight: float) -> Answer:
    """All tails of a row, with their citations."""
    facts: list[JudgedFact] = [table.facts[key] for key in table.rows[row].facts]
    facts.sort(key=lambda one: (-one.confidence, one.fact.id))
    citations = [citation for one in facts for citation in citations_of(one.fact, inverse=False)]
    score = min(1.0, weight * max(one.confidence for one in facts))
    path = tuple(
        Hop(one.fact.head.name, one.fact.tail.name, citations_of(one.fact, inverse=False)[0], one.fact.relation)
        for one in facts[:1]
    )
    names = ", ".join(dict.fromkeys(one.fact.tail.name for one in facts))  # a fact of two periods says it once
    conflict = any(one.status == "disputed" for one in facts)
    return Answer(question, names, score, "memory", citations=shared(citations), path=path, conflict=conflict)
