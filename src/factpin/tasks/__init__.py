"""Tasks: how annotation becomes cells to learn, and how found cells become mentions and facts. No torch.

TASKS is the table of tasks, the only one; `find_task` resolves a name or an alias. To add a task, write a folder with
its Task value and add a line here.
"""

from factpin.errors import UnknownName, did_you_mean
from factpin.tables import Table
from factpin.tasks.task import Cut, Design, Finder, Predict, Task

TASKS: Table[Task] = Table(
    {
        "coreference": "factpin.tasks.coreference.task:COREFERENCE",
        "document_relations": "factpin.tasks.document_relations.task:DOCUMENT_RELATIONS",
        "events": "factpin.tasks.events.task:EVENTS",
        "spans": "factpin.tasks.spans.task:SPANS",
        "triples": "factpin.tasks.triples.task:TRIPLES",
    }
)


def task_names() -> list[str]:
    """All names and aliases."""
    return sorted([*TASKS, *(task.alias for task in TASKS.values())])


def find_task(name: str) -> Task:
    """The task of that name or alias; hyphens count as underscores."""
    plain = name.replace("-", "_")
    for task in TASKS.values():
        if plain in (task.name, task.alias):
            return task
    names = task_names()
    raise UnknownName(f"There is no task {name!r}.{did_you_mean(plain, names)} Known: {', '.join(names)}.")


__all__ = ["TASKS", "Cut", "Design", "Finder", "Predict", "Task", "find_task", "task_names"]
