"""Short names of relations, for tables in narrow terminals. Files always have the full names."""

SHORT = {
    "academic degree": "degree",
    "applies to jurisdiction": "applies to",
    "chief executive officer": "CEO",
    "contains administrative territorial entity": "contains",
    "country of citizenship": "citizen of",
    "country of origin": "origin",
    "date of birth": "born",
    "date of death": "died",
    "headquarters location": "based in",
    "languages spoken, written or signed": "speaks",
    "located in or next to body of water": "next to",
    "located in the administrative territorial entity": "located in",
    "located on terrain feature": "located on",
    "member of political party": "party",
    "member of sports team": "team",
    "military branch": "branch",
    "mouth of the watercourse": "flows into",
    "original language of work": "language",
    "parent organization": "parent",
    "participant in": "took part in",
    "place of birth": "born in",
    "place of death": "died in",
    "publication date": "published",
    "territory claimed by": "claimed by",
}


def short_name(relation: str) -> str:
    """The short name of a relation, or its own."""
    return SHORT.get(relation, relation)
