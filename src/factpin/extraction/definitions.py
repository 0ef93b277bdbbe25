"""Facts that English definitions state in fixed words, whatever a model thinks of them.

    King of the Sierras is a 1938 American Western film directed by Samuel Diege and starring Rex.
    Paul Scardon (6 May 1874 – 17 January 1954) was an Australian actor and film director.

Encyclopaedias begin like this, and models that learned from news miss it. Each sentence is read with its mentions in
the place of their words: «0» is a «1» «2» Western film directed by «3». The title of a work is what comes before
"is a", even where no model found it as one name.

Between the words of a rule only words of a short list may come, so that "His father was taught by Isaac Newton" and "He
married the daughter of Thomas Bell" give nothing. A sentence can still deny or doubt what it says ("said to be"): the
facts get an assertion status as those of the models do.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from factpin.documents import Document, Entity, Evidence, Fact, Mention
from factpin.extraction.pattern_sentence import INDEX, PatternSentence, pattern_of
from factpin.language.assertion import with_assertions
from factpin.language.countries import is_country, is_of_country

LANGUAGE = "en"
SURE = dict.fromkeys(
    ("director", "performer", "author", "cast member", "publication date", "country of citizenship", "country",
     "country of origin"), 0.9
)  # fmt: skip
SURE |= dict.fromkeys(("screenwriter", "composer", "producer", "publisher", "developer"), 0.85)
SURE |= dict.fromkeys(("father", "mother", "child", "spouse", "place of birth", "place of death"), 0.85)
SURE |= dict.fromkeys(("date of birth", "date of death"), 0.95)  # see recipes/answers/README.md, Definitions
OF_WORKS = ("director", "performer", "author", "cast member", "publication date", "country of origin", "screenwriter",
            "composer", "producer", "publisher", "developer")  # fmt: skip
EARLY = 12  # sentences from the beginning in which he or she is the subject
LONGEST = 100  # characters of a title
FILM = (
    r"film|movie|documentary|short|feature|serial|comedy|drama|thriller|western|miniseries|sitcom|"
    r"(?:television|TV|web) series"
)
BOOK = r"novel|book|play|novella|memoir|poem|short story|comic|manga|autobiography|biography|trilogy"
MUSIC = r"song|single|album|EP|mixtape|recording|track|ballad|soundtrack|LP"
GAME = r"(?:video )?game"
_ONE = r"«\d+»"
_LIST = rf"((?:{_ONE})(?:(?:, | and |, and | & |, with ){_ONE})*)"
_SUBJECT = re.compile(r"^(?P<name>[^()]{1,200}?)(?:\s*\([^()]*\))?,? (?:is|was) (?:an?|the) (?P<rest>.*)$", re.S)
_LIFE = re.compile(rf"^(?P<name>{_ONE})[^()]{{0,40}}?\s*\(\s*(?P<life>[^()]*?)\s*\)")
_BORN = re.compile(rf"\b(?:born|b\.)(?: on| in)?[^«;,–-]{{0,12}}(?P<date>{_ONE})")
_YEARS = re.compile(rf"(?:^|[;,] )(?:c\. )?(?P<date>{_ONE})\s*[–—-]\s*(?:c\. )?(?P<end>{_ONE})$")
# an English teacher, a French horn player, a German-born painter
_NO_NATION = (
    r"(?![ -](?:born|based|trained|educated|language|speaking|football|horn|guitar|literature|history|law|studies|"
    r"teacher|translator|professor|opera|food|wine|cuisine|cinema|rules)\b)"
)
_CITIZEN = re.compile(
    rf"^(?P<name>{_ONE})[^«»]{{0,3}}?(?:\s*\([^()]*\))?,? (?:is|was) an? (?:[a-z]+ )?(?P<country>{_ONE}){_NO_NATION}"
    r"[ -][a-z]"
)
_FROM = re.compile(
    rf"^(?P<name>{_ONE})[^«»]{{0,3}}?(?:\s*\([^()]*\))?,? (?:is|was) an? "
    rf"(?:(?!\b(?:of|by|away|far|import\w*|translat\w*)\b)[^«».;,()]){{1,60}} from (?P<country>{_ONE})"
)
ELLIPSIS = re.compile(r"(?:\.\.\.|…)[\"”’]?\s*$")
_DASH = re.compile(r"\s[–—-]\s")
_ORIGIN = re.compile(
    r"(?:«\d+» )?(?:(?!(?:about|as|by|for|from|in|of|on|set|to|with)\b)[a-z-]+ ){0,2}(?P<country>«\d+»)"
    r"(?![ -](?:language|born|speaking)\b)[ -]"
)
_IT = re.compile(
    r"(?:^It|(?:^|[,;] (?:and )?)[Tt]he (?:film|movie|documentary|series|picture|song|single|album|novel|book|game)) "
    r"(?:was|is) (?:also )?"
)
_PLACE = re.compile(
    r"(?:[^«».;()]|«\d+»){0,60}?\b(?:village|town|city|municipality|commune|locality|settlement|hamlet|suburb|district|"
    r"county|province|region|river|stream|lake|mountain|peak|hill|island|bay|cape|valley|park|airport|station|stadium|"
    r"school|college|university|museum|church|cathedral|monastery|mosque|temple|castle|manor|mansion|palace|bridge|"
    r"tower|dam|mine|neighbou?rhood|ward|parish|constituency)\b"
)
_CLAUSE_ENDS = re.compile(r"[;()]|\.\s|\b(?:which|that|who|where|with|known|near|from|to|and|between|border\w*|"
                          r"named|called|claimed|about|for|like|history)\b")  # fmt: skip
_NO_WORK = (
    r"(?! (?:and [a-z]+ )?(?:production |making )?(?:compan|studio|producer|distributor|director|festival|critic))"
)
_KIND = re.compile(
    rf"\b(?P<film>{FILM})\b{_NO_WORK}|\b(?P<book>{BOOK})\b|\b(?P<music>{MUSIC})\b|\b(?P<game>{GAME})\b", re.I
)
_PRONOUN = re.compile(
    r"^(?:it|this|that|he|she|they|there|these|those|which|"
    r"(?:the|this) (?:film|song|album|novel|book|movie|series|game|show|single|story|play))$",
    re.I,
)
_BY = {
    "film": (("director", r"(?:co-)?directed"), ("screenwriter", "written"), ("producer", "produced"),
             ("composer", "scored"), ("director", r"written and directed"),
             ("director", r"directed(?:, (?:written|produced|edited))*,? and (?:co-)?(?:written|produced|edited)"),
             ("director", "produced and directed")),
    "book": (("author", r"(?:co-)?(?:written|authored)"), ("author", "(?:novel|book|play|novella|memoir|poem|story)"),
             ("publisher", "published")),
    "music": (("performer", r"(?:performed|recorded|sung)"), ("composer", "composed"),
              ("performer", rf"(?:{MUSIC})")),
    "game": (("developer", "developed"), ("publisher", "published"), ("publisher", "developed and published"),
             ("developer", "developed and published")),
}  # fmt: skip
# American singer (Dillon Francis)
_WORDS = r"(?: (?!(?:and|or|who|which|that|about|based|starring|featuring|from|for|with|by|in|on|at|to)\b)[a-z-]+){0,4}"
BY = {
    kind: [(relation, re.compile(rf"\b{verb} by (?:the )?(?:{_ONE}{_WORDS} |[a-z-]+{_WORDS} )?{_LIST}", re.I))
           for relation, verb in rows] for kind, rows in _BY.items()
}  # fmt: skip
_MUSIC_BY = re.compile(
    rf"\b[Mm]usic(?: score)?(?: (?:used in|of|for) the (?:film|movie|series))? (?:was |is )?composed by {_LIST}"
)
# a film based on the play written by Cy Cole: he did not write the film
_WITHIN = r"(?:(?! and )[^,;])*"
_OF_ANOTHER = re.compile(
    r"\b(?:based|adapted|adaptation|inspired|remake|sequel|prequel|spin-off|parody|cover|version|tribute|response|about|"
    rf"review|biography)\b{_WITHIN}\b(?:{FILM}|{BOOK}|{MUSIC}|{GAME}|screenplay|script|story)\b{_WITHIN}$",
    re.I,
)
_ALSO = re.compile(r",? (?:also|better|originally|internationally) (?:known|released|titled)|,? a\.?k\.?a\.?", re.I)
STARRING = re.compile(rf"\b(?:starring|stars|featuring) {_LIST}", re.I)
_HE = re.compile(r"^(?:He|She|(?P<own>His|Her)|(?P<name>«\d+»))\b", re.I)
# the Aztec ruler (Moctezuma), the late King
_ROLES = (
    "late|former|future|later|noted|famous|renowned|fellow|retired|professional|"
    "actor|actress|architect|artist|author|baron|baroness|bishop|businessman|businesswoman|chief|comedian|composer|"
    "conductor|count|countess|dancer|director|doctor|dramatist|duchess|duke|earl|economist|emperor|empress|engineer|farmer|"
    "filmmaker|film|footballer|governor|historian|journalist|judge|king|knight|lady|lawyer|lord|mathematician|merchant|"
    "musician|novelist|painter|philosopher|photographer|physician|physicist|pianist|playwright|poet|politician|president|"
    "prince|princess|producer|professor|queen|rapper|ruler|scientist|sculptor|senator|singer|soldier|stage|sultan|"
    "theologian|violinist|writer"
)
_TITLED = (
    r"Sir|Lord|Lady|Dame|Dr\.?|Prof\.?|Professor|Mr\.?|Mrs\.?|Miss|Rev\.?|Reverend|Saint|St\.|King|Queen|Prince|Princess|"
    r"Emperor|Empress|Count|Countess|Duke|Duchess|Earl|Baron|Baroness|President|Senator|Governor|Captain|Colonel|General|Major|"
    r"Admiral|Judge|Bishop|Sultan|Shah|Khan|Chief"
)
_TITLES = rf"(?:(?:an?|the) )?(?:(?:{_ROLES}|{_TITLED}|and(?= (?:{_ROLES}) )|«\d+»)(?: |, (?=«))){{0,4}}"
# a name that nothing is made of: not "Karl Smith's pupil", "Karl Smith or Bo Birch", "Ann Ash to Bo Birch"
_END = (
    r"(?=\s*(?:[.,;:()!]|$)| (?:after|and|at|before|but|by|during|from|in|of|on|since|until|when|while|who|with|née)\b)"
)
_NTH = (
    "(?:(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|only|eldest|elder|oldest|older|youngest|"
    "younger|middle|twin|surviving|illegitimate|legitimate|natural|biological|posthumous|and|born) ){0,3}"
)
_SON_OF = rf"(?:an?|the) {_NTH}(?:son|daughter|child) (?:of|to) (?P<one>{_TITLES})«(?P<first>\d+)»"
_AND = rf"(?:,? and(?: (?:his|her) (?:first |second )?wife,?)? (?P<other>{_TITLES})«(?P<second>\d+)»{_END})?{_END}"
_BORN_AS = r"born(?: (?:in|at|on) (?:(?!\b(?:and|to|when|where|which|who|whose)\b)[^.;()]){1,60}?)?,? (?:as )?"
_CHILD = re.compile(rf"^(?:He|She|{_ONE}(?:\s*\([^()]*\))?) (?:is|was) (?:{_BORN_AS})?{_SON_OF}{_AND}")
_SON = re.compile(
    rf"^The {_NTH}(?:son|daughter|child) of (?P<one>{_TITLES})«(?P<first>\d+)»"
    rf"(?:,? and(?: (?:his|her) wife,?)? (?P<other>{_TITLES})«(?P<second>\d+)»)?, (?:he|she|(?P<name>«\d+»))\b"
)
_HAS = re.compile(rf"^(?:He|She|{_ONE}) (?:is|was) the (?:father|mother) of {_TITLES}«(?P<first>\d+)»{_END}")
_PARENT = re.compile(
    rf"^(?:His|Her) (?P<who>father|mother)(?:,| is| was) (?:(?:named|called) )?{_TITLES}«(?P<first>\d+)»{_END}"
)
_FEMALE = re.compile(r"\b(?:wife|lady|princess|queen|countess|duchess|empress|actress|mother|mrs|miss|dame)\b", re.I)
_MARRIED = re.compile(
    rf"^(?:He|She|{_ONE}) (?:(?:is|was) married to |(?:first |later |also |then )?married (?:to )?)"
    rf"{_TITLES}«(?P<first>\d+)»{_END}(?! and «)"
)
_CAUSES = (
    "accident|age|attack|battle|cancer|causes|cholera|complications|crash|disease|exile|failure|fever|hospital|illness|"
    "injuries|malaria|office|plague|pneumonia|poverty|prison|stroke|tuberculosis|typhus|wounds"
)
_DIED = (
    r"(?:(?:suddenly|peacefully|unexpectedly|there|at home|at (?:his|her) (?:home|house|residence)|(?:on|in) «\d+»|"
    r"(?:at (?:the )?age(?: of)?|aged) (?:\d+|«\d+»)|"
    rf"(?:of|from|in|after) (?:an? |the )?(?:[a-z-]+ ){{0,2}}(?:{_CAUSES})),? ){{0,4}}"
)
_AT = rf"«(?P<first>\d+)»(?:{_END}| to\b)"
_PLACES = (
    *(
        (f"place of {event}", re.compile(rf"^(?:He|She|{_ONE}) was born and died in {_AT}"))
        for event in ("birth", "death")
    ),
    ("place of birth", re.compile(rf"^(?:He|She|{_ONE}) was born (?:on [^.;]{{0,20}}{_ONE},? )?(?:in|at) {_AT}")),
    ("place of death", re.compile(rf"^(?:He|She|{_ONE}) died {_DIED}(?:in|at) {_AT}")),
    (
        "place of birth",
        re.compile(rf"^{_ONE}[^()]{{0,40}}?\s*\(\s*born [^();]{{0,6}}{_ONE},? (?:in )?«(?P<first>\d+)»(?=\s*[,;)–—])"),
    ),
)


def define(doc: Document) -> Document:
    """The document with the facts that its definitions state and that it does not have yet."""
    if doc.language != LANGUAGE:
        return doc
    subject: Mention | None = None
    work: tuple[Mention, str] | None = None
    for number, span in enumerate(doc.sentences):
        sentence = pattern_of(doc, span)
        found = [*_works(sentence, doc.text), *_people(sentence)]
        if number == 0:
            subject, work = _subject(sentence), _work(sentence, doc.text)
            found += _places(sentence, doc.text)
        elif number < EARLY and work is not None:
            found += _made(sentence, *work)
        if subject is not None and number < EARLY:
            found += _told(sentence, subject)
        for head, relation, tail in found:
            doc = _with_fact(doc, head, relation, tail, number)
    return with_assertions(doc)


def _works(sentence: PatternSentence, text: str) -> Iterator[tuple[Mention, str, Mention]]:
    """What a sentence says of a film, a book, a piece of music or a game that it defines."""
    match, defined = _SUBJECT.match(sentence.pattern), _work(sentence, text)
    if match is None or defined is None:
        return
    head, kind = defined
    rest = match["rest"]
    years = INDEX.match(rest)
    if years and (year := sentence.mentions[int(years[1])]).type == "date" and year.text.strip().isdecimal():
        yield head, "publication date", year
    origin = _ORIGIN.match(rest)
    if kind == "film" and origin and is_of_country((adjective := sentence.said(origin["country"])[0]).text):
        yield head, "country of origin", adjective
    made = [(relation, found) for relation, pattern in BY[kind] for found in pattern.finditer(rest)]
    made += [("cast member", found) for found in STARRING.finditer(rest) if kind == "film"]
    for relation, found in made:
        names = found.lastindex or 0
        if not _OF_ANOTHER.search(rest, 0, found.start(names)):
            yield from ((head, relation, m) for m in sentence.said(found[names]) if _is_maker(m, relation))


def _work(sentence: PatternSentence, text: str) -> tuple[Mention, str] | None:
    """The title and the kind of the work that a sentence defines."""
    match = _SUBJECT.match(sentence.pattern)
    kind = _KIND.search(match["rest"][:120]) if match else None
    head = _title(sentence, text, match.end("name")) if match and kind else None
    return (head, kind.lastgroup) if head is not None and kind is not None and kind.lastgroup else None


def _made(sentence: PatternSentence, head: Mention, kind: str) -> Iterator[tuple[Mention, str, Mention]]:
    """Who made a work, from a later sentence about it: "It was directed by", "Music was composed by"."""
    for begins in _IT.finditer(sentence.pattern):
        for relation, pattern in BY[kind]:
            if found := pattern.match(sentence.pattern, begins.end()):
                yield from (
                    (head, relation, m) for m in sentence.said(found[found.lastindex or 0]) if _is_maker(m, relation)
                )
    if kind == "film" and (music := _MUSIC_BY.search(sentence.pattern)):
        yield from ((head, "composer", m) for m in sentence.said(music[1]) if _is_maker(m, "composer"))


def _places(sentence: PatternSentence, text: str) -> Iterator[tuple[Mention, str, Mention]]:
    """The country of a place that a sentence defines: "Bern is a town in West County, Norway"."""
    match = _SUBJECT.match(sentence.pattern)
    kind = _PLACE.match(match["rest"]) if match else None
    head = _title(sentence, text, match.end("name")) if match and kind else None
    if match is None or kind is None or head is None:
        return
    inner = [m for m in sentence.mentions if head.start < m.start and m.end == head.end and m.type == "location"]
    clause = _CLAUSE_ENDS.split(match["rest"][kind.end() :])[0]
    countries = [m for m in sentence.said(clause) if m.type == "location" and is_country(m.text)]
    if len(countries) == 1:
        yield inner[0] if inner and head.text.startswith("The ") else head, "country", countries[0]


def _is_maker(m: Mention, relation: str) -> bool:
    groups = relation in ("performer", "producer", "publisher", "developer")
    return m.type == "person" or (groups and m.type in ("organization", "other"))


def _title(sentence: PatternSentence, text: str, end: int) -> Mention | None:
    """The title of what a sentence defines: the mention there, or all characters before "is a"."""
    start, stop = sentence.span.start, sentence.where(end)
    if also := _ALSO.search(text, start, stop):
        stop = also.start()
    while start < stop and text[start] in "\"“'‘ ":
        start += 1
    while start < stop and text[stop - 1] in "\"”'’, ":
        stop -= 1
    title = text[start:stop]
    if ELLIPSIS.search(text, max(0, sentence.span.start - 5), sentence.span.start):
        return None  # a part of a title: Love Songs: A Compilation... Old and New
    if not 1 < stop - start <= LONGEST or _PRONOUN.match(title) or not (title[0].isupper() or title[0].isdecimal()):
        return None
    same = next((m for m in sentence.mentions if (m.start, m.end) == (start, stop)), None)
    if same is not None:
        return None if same.type in ("person", "date") else same
    return Mention("", start, stop, title, "other") if '"' not in title else None


def _people(sentence: PatternSentence) -> Iterator[tuple[Mention, str, Mention]]:
    """The life and the nationality of somebody whom a sentence defines."""
    life = _LIFE.match(sentence.pattern)
    if life and (person := sentence.said(life["name"])[0]).type == "person":
        years, born = _YEARS.search(life["life"]), _BORN.search(life["life"])
        for relation, found in (("date of birth", years["date"] if years else born["date"] if born else ""),
                                ("date of death", years["end"] if years else "")):  # fmt: skip
            yield from ((person, relation, m) for m in sentence.said(found) if m.type == "date")
        yield from _halves(sentence, person, life["life"])
    for citizen in filter(None, (_CITIZEN.match(sentence.pattern), _FROM.match(sentence.pattern))):
        person, country = sentence.said(citizen["name"])[0], sentence.said(citizen["country"])[0]
        known = is_country(country.text) or (citizen.re is _CITIZEN and is_of_country(country.text))
        if known and person.type == "person" and country.type in ("other", "location"):
            yield person, "country of citizenship", country


def _halves(sentence: PatternSentence, person: Mention, life: str) -> Iterator[tuple[Mention, str, Mention]]:
    """Dates and places of birth and death: (6 May 1874 in Melbourne, Victoria – 17 January 1954 in Fontana)."""
    halves = [sentence.said(half) for half in _DASH.split(life)]
    if len(halves) != len(("birth", "death")) or not all(any(m.type == "date" for m in half) for half in halves):
        return
    for event, half in zip(("birth", "death"), halves, strict=True):
        dates, places = ([m for m in half if m.type == type] for type in ("date", "location"))
        if len(dates) == 1:
            yield person, f"date of {event}", dates[0]
        if places:
            yield person, f"place of {event}", places[0]


def _subject(sentence: PatternSentence) -> Mention | None:
    """The person whom a text begins with."""
    first = INDEX.match(sentence.pattern)
    found = sentence.mentions[int(first[1])] if first else None
    return found if found is not None and found.type == "person" else None


def _told(sentence: PatternSentence, subject: Mention) -> Iterator[tuple[Mention, str, Mention]]:
    """What a sentence about the subject of a text says about parents, spouses, and places."""
    begins = _HE.match(sentence.pattern)
    if (son := _SON.match(sentence.pattern)) and (
        not son["name"] or _is_called(sentence.said(son["name"])[0], subject)
    ):
        parents = ((relation, sentence.mentions[int(number)]) for relation, number in _parents(son))
        yield from ((subject, relation, parent) for relation, parent in parents if parent.type == "person")
    if begins is None or (begins["name"] and not _is_called(sentence.said(begins["name"])[0], subject)):
        return
    found: list[tuple[str, str]] = []
    if parent := _PARENT.match(sentence.pattern):
        found.append((parent["who"].lower(), parent["first"]))
    if begins["own"] is None:
        if child := _CHILD.search(sentence.pattern):
            found += _parents(child)
        if has := _HAS.match(sentence.pattern):
            found.append(("child", has["first"]))
        if married := _MARRIED.match(sentence.pattern):
            found.append(("spouse", married["first"]))
        found += [(relation, match["first"]) for relation, rule in _PLACES if (match := rule.match(sentence.pattern))]
    for relation, number in found:
        tail = sentence.mentions[int(number)]
        if tail.type == ("location" if relation.startswith("place") else "person"):
            yield subject, relation, tail


def _parents(child: re.Match[str]) -> list[tuple[str, str]]:
    """Who of the parents is father and who is mother: the first is the father unless a word says otherwise."""
    reverse = _FEMALE.search(child["one"]) is not None
    names = [("mother" if reverse else "father", child["first"])]
    return [*names, ("father" if reverse else "mother", child["second"])] if child["second"] else names


def _is_called(m: Mention, subject: Mention) -> bool:
    """Whether a name is that of the subject, or its last word."""
    return m.text == subject.text or subject.text.endswith(f" {m.text}")


def _with_fact(doc: Document, head: Mention, relation: str, tail: Mention, sentence: int) -> Document:
    """The document with one more fact, unless it has it, or another tail of a relation that gives one alone."""
    doc, head = _with_mention(doc, head)
    owner = {id: e.id for e in doc.entities for id in e.mentions}
    if head.id not in owner or tail.id not in owner or owner[head.id] == owner[tail.id]:
        return doc
    ends = owner[head.id], owner[tail.id]
    if relation in OF_WORKS and _is_another(next(e.name for e in doc.entities if e.id == ends[0]), head.text):
        return doc
    score = SURE[relation]
    alone = relation in ("date of birth", "date of death", "publication date", "father", "mother", "place of birth")
    for i, fact in enumerate(doc.facts):
        if (fact.head, fact.relation) == (ends[0], relation) and (fact.tail == ends[1] or alone):
            if fact.tail == ends[1] and fact.assertion in (None, "asserted") and (fact.score or 0.0) < score:
                return replace(doc, facts=(*doc.facts[:i], replace(fact, score=score), *doc.facts[i + 1 :]))
            return doc
    fact = Fact(ends[0], relation, ends[1], head.id, tail.id, score, (Evidence(sentence),))
    return replace(doc, facts=(*doc.facts, fact))


def _is_another(name: str, title: str) -> bool:
    """Whether an entity is named after something else: TMNT, a film, after the comic Teenage Mutant Ninja Turtles."""
    return title not in name and name not in title


def _with_mention(doc: Document, mention: Mention) -> tuple[Document, Mention]:
    """The document with a mention, which is an entity of its own if it is new."""
    same = (m for m in doc.mentions if (m.start, m.end) == (mention.start, mention.end))
    if known := mention if mention.id else next(same, None):
        return doc, known
    ids = {m.id for m in doc.mentions} | {e.id for e in doc.entities}
    number = len(ids)
    while {f"m{number}", f"e{number}"} & ids:
        number += 1
    new = replace(mention, id=f"m{number}", score=SURE["director"])
    mentions = tuple(sorted((*doc.mentions, new), key=lambda m: (m.start, m.end)))
    entity = Entity(f"e{number}", (new.id,), new.type, new.text)
    return replace(doc, mentions=mentions, entities=(*doc.entities, entity)), new
