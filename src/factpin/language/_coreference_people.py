"""People: which person a part of a name means, if several full names have that part.

    Dr. Ann Lee … Tom Lee … Dr. Lee          the one with that title
    Ann Lee … Mr. Tom Lee … Ms. Lee          the one whose title does not contradict it
    Ann Lee … Ann Lee … Tom Lee … Lee        the one with more mentions so far, by full name and by parts of it
    Ann Lee … Tom Lee … Lee                  neither: it is ambiguous

Forms of one full name (John Smith, John A. Smith) are one person.
"""

from collections.abc import Iterator, Sequence

from factpin.language._coreference_forms import part_of, variant_key
from factpin.language._coreference_names import Name

STRENGTH = 0.50


class People:
    """Who was referred to by which part of a name, in the order of the text."""

    def __init__(self) -> None:
        self.parts: dict[int, list[Name]] = {}  # full name -> parts of it that meant it

    def called(self, short: Name, found: Sequence[Name]) -> Iterator[tuple[Name, float]]:
        """The full names that the part may mean, with a strength; 0 if only a scorer can decide."""
        people = [forms for forms in _people(found) if _may_be(short, forms)]
        chosen = self._chosen(short, people)
        for forms in people:
            yield forms[0], STRENGTH if forms is chosen else 0.0
        if chosen:
            self.parts.setdefault(chosen[0].index, []).append(short)

    def _chosen(self, short: Name, people: Sequence[list[Name]]) -> list[Name]:
        titled = [forms for forms in people if any(short.titles & form.titles for form in forms)]
        if len(people) == 1 or len(titled) == 1:
            return (people if len(people) == 1 else titled)[0]
        uses = [self._uses(forms, short.mentions[0]) for forms in people]
        most = max(uses, default=0)
        return people[uses.index(most)] if uses.count(most) == 1 else []

    def _uses(self, forms: Sequence[Name], place: int) -> int:
        """The number of earlier mentions of that person."""
        parts = {part.index: part for form in forms for part in self.parts.get(form.index, ())}
        names = {**parts, **{form.index: form for form in forms}}
        return sum(mention < place for name in names.values() for mention in name.mentions)


def _people(found: Sequence[Name]) -> list[list[Name]]:
    """The names of each person, the fullest form first. A name that fits two people belongs to neither."""
    full = [name for name in found if not any(part_of(name, other) for other in found)]
    people: dict[str, list[Name]] = {}
    for name in full:
        people.setdefault(variant_key(name), []).append(name)
    for name in found:
        whole = {variant_key(other) for other in full if part_of(name, other)}
        if len(whole) == 1:
            people[whole.pop()].append(name)
    return list(people.values())


def _may_be(short: Name, forms: Sequence[Name]) -> bool:
    genders = {form.gender for form in forms} - {""}
    return not (short.gender and genders) or short.gender in genders
