"""The marks of a schema that a model decodes by."""

from dataclasses import replace

from factpin.documents import Relation, Schema


def switch_marks(schema: Schema, *, types: bool, functional: bool) -> Schema:
    """The schema with argument types and functional marks only where they are switched on."""

    def chosen(relation: Relation) -> Relation:
        heads, tails = (relation.heads, relation.tails) if types else ((), ())
        return replace(relation, heads=heads, tails=tails, functional=relation.functional and functional)

    return replace(schema, relations={name: chosen(relation) for name, relation in schema.relations.items()})
