"""English words that decide what a mention is. All are folded: lower case, no full stops."""

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PRONOUNS = {  # (kind of thing, gender, number): words
    ("person", "m", "one"): "he him his himself",
    ("person", "f", "one"): "she her hers herself",
    ("person", "", ""): "who whose whom",
    ("thing", "", "one"): "it its itself this that",
    ("thing", "", "many"): "these those",
    ("thing", "", ""): "which",
    ("place", "", "one"): "where",
    ("", "", "many"): "they them their theirs themselves",
}
PRONOUNS = {word: known for known, words in _PRONOUNS.items() for word in words.split()}
SPEAKERS = _set("i me my mine myself we us our ours ourselves you your yours yourself")

ARTICLES = _set("the a an")
POINTING = _set("the this that these those its his her their said such")
_NOUNS = {  # heads of nominals, as in "the company"
    "organisation": "company firm corporation group organization organisation agency bank university college institute "
    "school club team party band ministry department committee council association airline manufacturer publisher",
    "place": "country nation state city town village province county district region island",
    "person": "man woman boy girl actor actress singer author writer president minister chairman director professor "
    "doctor king queen player politician artist musician scientist founder",
    "other": "approach method technique algorithm framework model system procedure scheme strategy tool architecture "
    "methodology task problem metric measure corpus dataset data resource drug compound disease disorder syndrome "
    "film album song book novel game show series",
}
NOUNS = {word: thing for thing, words in _NOUNS.items() for word in words.split()}
METHODS = _set(  # interchangeable: "our approach … the method"
    "approach method technique algorithm framework model system procedure scheme strategy tool architecture methodology"
)
MEN = _set("man boy actor king mr sir lord prince")
WOMEN = _set("woman girl actress queen mrs ms miss lady dame madam princess")

TITLES = _set(
    "mr mrs ms miss dr prof professor sir lord lady dame madam president chancellor senator governor mayor judge "
    "justice captain colonel general major lieutenant admiral sergeant agent minister secretary ceo chairman reverend "
    "rev"
)
NOBLE = _set("king queen prince princess")  # titles that are kept in a name
SUFFIXES = _set("phd md esq obe cbe")  # after the name of a person
GENERATIONS = _set("jr sr junior senior ii iii iv")  # after the name too, but they distinguish people
COMPANY = _set(  # after the name of an organisation, ignored
    "inc incorporated corp corporation co company companies ltd limited llc plc gmbh ag sa nv bv spa oy ab group "
    "holding holdings kg lp llp mbh pty"
)
COUNTRIES = {  # spellings of the same country
    "usa": "us", "united states": "us", "united states of america": "us", "uk": "united kingdom",
    "united kingdom of great britain and northern ireland": "united kingdom", "ussr": "soviet union",
    "union of soviet socialist republics": "soviet union",
}  # fmt: skip
WIDER = _set("mexico quebec kansas oklahoma panama guatemala luxembourg kuwait iowa jersey york")  # City of Mexico
SALTS = _set("hydrochloride hcl sulfate sulphate maleate mesylate tartrate citrate fumarate succinate besylate")
SMALL = _set("of the and for in on at to de la le du des von van der a an")  # without a letter in initials
DIRECTIONS = _set("north south east west new old upper lower great western eastern northern southern saint st san")

# Endings of word forms that mean the same thing: ischemia, ischemic. The vowel before tic, sis and tis is kept:
# diverticulosis is not diverticulitis. Without ous: phosphorous acid is not phosphoric acid.
_ENDINGS = _set("e y ic ical ia ias ive ion ions ed ity tic sis tis us al ally ly")
ENDINGS = tuple(sorted(_ENDINGS, key=lambda ending: (-len(ending), ending)))
STEM = 5  # characters that must be left

_OFTEN = (
    r"(?:also|formerly|previously|originally|commonly|generally|usually|often|sometimes|better|best|widely|popularly|"
    r"informally|officially|locally|professionally|simply|now|once|later|today|initially|was|is|were|are|been|be)\s+"
)
# What comes between a name and its alias. Not just "called": Anna called Tom.
ALIAS = re.compile(
    rf"""['"”’\s)]*[,;(\s]*(?:and\s+|which\s+we\s+|but\s+)?
    (?:(?:{_OFTEN})*(?:known|referred\s+to)(?:\s+(?:simply|locally|collectively|professionally))?\s+as(?:\s+simply)?|
    (?:(?:{_OFTEN})+|(?<=[,(]\s)|(?<=[,(]))(?:abbreviated|spelled|spelt|named|renamed|nicknamed|dubbed|called|credited|billed|
    stylized|stylised|titled)(?:\s+(?:as|to))?|
    a\.?k\.?a\.?|alias|n[ée]e|born|or\s+simply|formerly|previously|short\s+for|(?:stage|pen|real|birth)\s+name)
    [\s:,]*(?:the\s+|an?\s+)?[\s'"“‘]*""",
    re.IGNORECASE | re.VERBOSE,
)
FURTHER = re.compile(r"""['"”’\s]*,?\s*or\s+(?:simply\s+)?(?:the\s+)?['"“‘]*""", re.IGNORECASE)  # … or a third name
OPENING = re.compile(
    r"""['"”’\s]*(?:[(\[（［]|-LRB-)\s*(?:(?:or|now|also|the|formerly)\s+)*['"“‘「《]*""", re.IGNORECASE
)
CLOSING = re.compile(r"""['"”’」》\s]*(?:[)\]）］,;，；、]|-RRB-)""")
INSIDE = re.compile(r"\s*(?:[(（]|-LRB-)\s*(.+?)\s*(?:[)）]|-RRB-)\s*")  # a definition within a mention
# "Anna is his wife": he is not Anna. Not after a comma: "Tom, his wife and …".
POSSESSIVES = _set("his her their its")
COPULA = re.compile(r"\s*,?\s*(?:who\s+)?(?:is|was|became|were|are|being)\s+(?:also\s+|once\s+)?")
RELATION = re.compile(
    r"\s+(?:[a-z]+\s+)?(?:wife|husband|spouse|father|mother|parents?|sons?|daughters?|brothers?|sisters?|uncle|aunt|"
    r"cousin|nephew|niece|friend|teacher|student|successor|predecessor|boss|rival)\b"
)
