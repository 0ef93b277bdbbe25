"""Words that decide whether a Latin full stop ends a sentence: may_end(word before, word before that, what follows)."""

import re

# A name follows these: they never end a sentence. Matched with their capital ("Gen." but not "gen.").
TITLES = frozenset(
    """Adm Amb Asst Brig Capt Cmdr Col Comdr Cpl Dr Drs Fr Gen Gov Hon Insp Lt Maj Messrs Mlle Mme Mr Mrs Ms Msgr Mt Mts
    Ofc Pfc Pres Prof Profs Pvt Rep Reps Rev Sen Sens Sgt Supt Univ""".split()
)

# Something always follows these, in either case.
CONNECTORS = frozenset(
    """approx bzgl bzw ca cf d.h e.g eg esp i.e ibid incl resp s.v u.a v viz vs z.b cit ff fn i.a q.v""".split()
)

# Abbreviations only before a number or a short label: "No. 5", "Fig. S3", "p. 7", "Abs. 2"; elsewhere plain words.
BEFORE_NUMBER = frozenset(
    """abs abschn app art arts bd bl chap ch cl col eq eqn eqs ex exh fig figs fol ln lfd no nos nr num op p par para
    pars pl pos pp pt reg rn sec sect secs ser st sub suppl supp tab ver vol vols z""".split()
)

# These stand in the middle or at the end: the sentence ends when the next word is a usual first word.
CLOSERS = frozenset(
    """al Apr Assn Assoc Aug Ave Bhd Bldg Blvd Bros Co Corp Dec Dept Dist Esq Est Feb Ft Fri Gmbh Hwy Inc Intl Jan Jr Jul
    Jun Ltd Mar Mon Natl Nov Oct Pkwy Pty Rd Sat Sep Sept Sq Sr St Ste Sun Thu Thur Thurs Tue Tues Wed avg dept
    diam est max min temp wt""".split()
)

# These end before any capital but a day, a month or a time zone: "9 a.m. Monday", "5 p.m. EST".
SMALL = frozenset("etc".split())
AFTER_TIME = frozenset(
    """Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Tues Wed Thu Thurs Fri Sat Sun January February
    March April May June July August September October November December Eastern Central Pacific Mountain EST EDT ET
    CST CDT CT MST MDT PST PDT PT GMT UTC CET CEST BST JST""".split()
)

# Names that end in an exclamation mark.
EXCLAIMED = frozenset("Jeopardy Joomla Kahoot Mia Oklahoma Rouge Yahoo Yum".split())

# A single letter after these is a label that may end ("vitamin C."), not the initial of a name.
LABELLED = frozenset(
    """Annex Appendix Block Category Class Exhibit Grade Group Hepatitis Influenza Option Part Phase Plan Section Series
    Team Type Vitamin""".split()
)

# Usual first words of an English sentence.
STARTERS = frozenset(
    """A After All Also Although An And Another Any Are As At Because Before Both But By Can Could Did Do Does During Each
    Earlier Even Every Finally First Following For From Had Has Have He Her Here His How However I If In Is It Its Later
    Let Many Meanwhile More Moreover Most My Neither No Nobody None Nor Not Nothing Now Of On Once One Only Or Other
    Others Our Over Perhaps Please Several She Should Since So Some Soon Still Such That The Their Then There These They
    This Those Though Three Through Thus To Today Two Under Unlike Until Was We Were What When Where Whether Which While
    Who Why With Without Would Yes Yesterday Yet You Your""".split()
)

# A line that ends in one of these goes on.
OPEN_WORDS = frozenset("a an and as at but by for from in into is of on or than that the to was with".split())

# The verbs of a reporting clause: "Stop!" Darwin said.
SAYING = frozenset(
    """added admitted agreed announced answered argued asked asks began called claimed commented continued cried
    declared demanded exclaimed explained insisted joked murmured muttered noted observed remarked repeated replied
    responded said says screamed shouted sighed snapped told tweeted warned whispered wondered wrote yelled""".split()
)

DOTTED = re.compile(r"[A-Za-z](?:\.[A-Za-z])+|Ph\.D|Ed\.D|Sc\.D|LL\.[BMD]|B\.Sc|M\.Sc|M\.Phil|B\.Eng|M\.Eng|Dipl\.-Ing")
FIRST_WORD = re.compile(r"[\"'“‘(\[]{0,2}([^\W\d_]{1,24})(\.?)")
LABEL = re.compile(r"[A-Z]{0,2}[-.]?\d|[IVXLC]{1,5}\b|[A-Z]\b|§")


def starts_usually(after: str) -> bool:
    """Whether the text after a full stop begins with a usual first word ("A." and "No." there are no words)."""
    match = FIRST_WORD.match(after)
    return match is not None and match[1] in STARTERS and not match[2]


def never_ends(word: str) -> bool:
    """Whether an abbreviation asks for more, so that not even a line break ends the sentence."""
    return word in TITLES or word.lower() in CONNECTORS


def may_end(word: str, previous: str, after: str) -> bool:
    """Whether a sentence may end at the full stop after word; `after` begins at the next character that is no space."""
    if never_ends(word):
        return False
    if word.lower() in BEFORE_NUMBER and (after[:1].isdigit() or (word.lower() != "no" and LABEL.match(after))):
        return False
    if len(word) == 1 and word.isalpha():
        return _letter_ends(word, previous, after)
    if word in SMALL or (DOTTED.fullmatch(word) and word.islower()):
        match = FIRST_WORD.match(after)
        return match is not None and match[1][0].isupper() and match[1] not in AFTER_TIME
    if word in CLOSERS or DOTTED.fullmatch(word):
        return starts_usually(after)
    return True


def _letter_ends(letter: str, previous: str, after: str) -> bool:
    # "Harry S. Truman", "Darwin C. On the Origin ...": after a name a letter is an initial whatever follows.
    name = previous[:1].isupper() and previous.isascii() and previous not in LABELLED
    if name or letter.islower():
        return not name and starts_usually(after)
    return starts_usually(after) or after[:1] >= "\u2e80"
