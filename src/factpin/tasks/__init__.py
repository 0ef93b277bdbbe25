"""What is asked: how annotation becomes cells to score, and how scored cells become spans and facts. No torch.

TASKS is the table of tasks; `find_task` resolves a name or an alias.
"""

from factpin.errors import UnknownName, did_you_mean
from factpin.tasks.task import Task

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="coreference",
            alias="coref",
            heads=("mention_pair",),
            finds="entities",
            asks="mentions",
            strict="Entities of the gold mentions (F1 of MUC, B-cubed and CEAF-e; f1 is their mean)",
            conventions={
                "strict": "an entity with exactly its mentions",
                "linked": "as strict, entities of several mentions",
            },
        ),
        Task(
            name="document_relations",
            alias="docre",
            heads=("atlop",),
            finds="facts",
            asks="entities",
            labels="relations",
            strict="Facts (head, relation, tail) between the gold entities of a document",
            conventions={
                "strict": "same head, relation and tail; entities by all their mentions (DocRED F1)",
                "ign": "as strict; facts of the training set do not count in precision (Ign F1)",
                "filtered": "as strict, without pairs that gold excludes (CDR: wider terms)",
                "intra": "as strict, pairs that share a sentence",
                "inter": "as strict, pairs that share none",
                "evidence": "the right sentences under a right fact",
                "all_mentions": "end to end: an entity is right with all its mentions",
                "all_mentions_typed": "end to end: all mentions and the type",
                "first_mention": "end to end: an entity is right with its first mention",
                "first_mention_typed": "end to end: first mention and the type",
            },
        ),
        Task(
            name="events",
            alias="ee",
            heads=("event_linker",),
            finds="events",
            labels="event types",
            strict="Strict arguments (role and span) of events paired one to one",
            conventions={
                "strict": "same role and span, in events paired one to one; the trigger is one more role",
                "trigger": "same event type and trigger span",
                "argument": "same event type, role and span, whichever event it is in",
                "text": "same event type, role and argument text",
                "event": "the whole event: type, trigger and all arguments",
            },
        ),
        Task(
            name="spans",
            alias="ner",
            heads=("efficient_global_pointer", "global_pointer", "crf"),
            finds="mentions",
            labels="types",
            strict="Strict spans (start, end and label)",
            conventions={
                "strict": "same start, end and label",
                "boundary": "same start and end, any label",
                "partial": "as boundary; an overlap is half right",
                "type": "an overlap with the same label",
            },
        ),
        Task(
            name="triples",
            alias="re",
            heads=("gplinker",),
            finds="facts",
            labels="relations",
            strict="Strict facts (span of the head, relation, span of the tail)",
            conventions={
                "strict": "same head span, relation and tail span",
                "typed": "as strict, and both arguments have the right type",
                "text": "same head text, relation and tail text, anywhere in the document",
                "last_word": "as text, by the last word of both arguments (NYT*, WebNLG*)",
                "complex": "as text, with all qualifiers; facts that have any",
            },
        ),
    )
}
TASK_NAMES = sorted([*TASKS, *(task.alias for task in TASKS.values())])


def find_task(name: str) -> Task:
    """The task of that name or alias; hyphens count as underscores."""
    plain = name.replace("-", "_")
    for task in TASKS.values():
        if plain in (task.name, task.alias):
            return task
    raise UnknownName(f"There is no task {name!r}.{did_you_mean(plain, TASK_NAMES)} Known: {', '.join(TASK_NAMES)}.")


__all__ = ["TASKS", "TASK_NAMES", "Task", "find_task"]
