"""A process that fills a store: python -m tests.memory.writer URL NAME COUNT. It says each uri once it is kept."""

import sys

from factpin.documents import Document
from factpin.errors import FactpinError
from factpin.memory import Source, open_store
from tests.memory.histories import SMALL
from tests.memory.world import Said, tell

PLACES = ("旧金山", "北京", "New York")


def document(name: str, i: int) -> tuple[Document, Source]:
    """The i-th document of a writer."""
    said = [Said("谷爱凌", "住", PLACES[i % 3], score=0.5), Said(f"{name}{i}", "住", PLACES[i % 2])]
    return tell(*said, id=str(i), extra="她喜欢滑雪。" * (i % 7) * 10), Source(f"{name}/{i}.txt", title=name)


def main(url: str, name: str, count: int) -> None:
    with open_store(url, create=True, passages=SMALL) as store:
        for i in range(count):
            print(store.put(*document(name, i)), f"{name}/{i}.txt", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    except FactpinError as error:
        sys.exit(str(error))
