"""Words that decide where a sentence ends: English abbreviations and first words, reporting clauses in both languages.

The functions decide whether a sentence ends: may_end (full stop), leans_on_quotation and reports (closing quote).
"""

import re


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A name follows these: they never end a sentence. Matched with their capital ("Gen." but not "gen.").
TITLES = _words(
    """Adm Amb Asst Brig Capt Cmdr Col Comdr Cpl Dr Drs Fr Gen Gov Hon Insp Lt Maj Messrs Mlle Mme Mr Mrs Ms Msgr Mt Mts
    Ofc Pfc Pres Prof Profs Pvt Rep Reps Rev Sen Sens Sgt Supt Univ"""
)

# Something always follows these, in either case.
CONNECTORS = _words(
    """approx bzgl bzw ca cf d.h e.g eg esp i.e ibid incl resp s.v u.a v viz vs z.b cit ff fn i.a q.v"""
)

# Abbreviations only before a number or a short label: "No. 5", "Fig. S3", "p. 7", "Abs. 2"; elsewhere plain words.
BEFORE_NUMBER = _words(
    """abs abschn app art arts bd bl chap ch cl col eq eqn eqs ex exh fig figs fol ln lfd no nos nr num op p par para
    pars pl pos pp pt reg rn sec sect secs ser st sub suppl supp tab ver vol vols z"""
)

# These occur in the middle or at the end: the sentence ends if the next word is a usual first word.
CLOSERS = _words(
    """al Apr Assn Assoc Aug Ave Bhd Bldg Blvd Bros Co Corp Dec Dept Dist Esq Est Feb Ft Fri Gmbh Hwy Inc Intl Jan Jr
    Jul Jun Ltd Mar Mon Natl Nov Oct Pkwy Pty Rd Sat Sep Sept Sq Sr St Ste Sun Thu Thur Thurs Tue Tues Wed avg dept
    diam est max min temp wt"""
)

# These end before any capital but a day, a month or a time zone: "9 a.m. Monday", "5 p.m. EST".
SMALL = _words("etc")
AFTER_TIME = _words(
    """Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mon Tue Tues Wed Thu Thurs Fri Sat Sun January February
    March April May June July August September October November December Eastern Central Pacific Mountain EST EDT ET
    CST CDT CT MST MDT PST PDT PT GMT UTC CET CEST BST JST"""
)

# Names that end in an exclamation mark.
EXCLAIMED = _words("E Jeopardy Joomla Kahoot Mia Oklahoma Rouge Wham Yahoo Yum")

# A single letter after these is a label that may end ("vitamin C."), not the initial of a name.
LABELLED = _words(
    """Annex Appendix Block Category Class Exhibit Grade Group Hepatitis Influenza Option Part Phase Plan Section Series
    Team Type Vitamin War"""
)

# Usual first words of an English sentence.
STARTERS = _words(
    """A After All Also Although An And Another Any Are As At Because Before Both But By Can Could Did Do Does During
    Each Earlier Even Every Finally First Following For From Had Has Have He Her Here His How However I If In Is It Its
    Later Let Many Meanwhile More Moreover Most My Neither No Nobody None Nor Not Nothing Now Of On Once One Only Or
    Other Others Our Over Perhaps Please Several She Should Since So Some Soon Still Such That The Their Then
    There These They This Those Though Three Through Thus To Today Two Under Unlike Until Was We Were What When Where
    Whether Which While Who Why With Without Would Yes Yesterday Yet You Your"""
)

# A line that ends in one of these goes on.
OPEN_WORDS = _words("a an and as at but by for from in into is of on or than that the to was with")

# The verbs of a reporting clause: "Stop!" Darwin said.
SAYING = _words(
    """added admitted agreed announced answered argued asked asks began called claimed commented continued cried
    declared demanded exclaimed explained insisted joked murmured muttered noted observed remarked repeated replied
    responded said says screamed shouted sighed snapped told tweeted warned whispered wondered wrote yelled"""
)

DOTTED = re.compile(r"[A-Za-z](?:\.[A-Za-z])+|Ph\.D|Ed\.D|Sc\.D|LL\.[BMD]|B\.Sc|M\.Sc|M\.Phil|B\.Eng|M\.Eng|Dipl\.-Ing")
FIRST_WORD = re.compile(r"[\"'“‘(\[]{0,2}([^\W\d_]{1,24})([.,]?)")
LABEL = re.compile(r"[A-Z]{0,2}[-.]?\d|[IVXLC]{1,5}\b|[A-Z]\b|§")

# Words that cannot start a sentence after a quotation.
_LEANS = re.compile(
    "[的地得了着是之和与與及或而并並便就也都还還让讓使令被为為来來]|后(?!来)|後(?!來)|等(?!我|你|他|她)|然后|然後|随后|接着|"
    "一[声聲句]|这句|這句|这个问题|这几个字|这样的|這樣的|这种|这类|这一|这本|这首|这篇|这部|这话|中的|里的|作为"
)
_CLAUSE = re.compile(r"[^\s，。！？：；、…,.!?:;“”「」『』\"（）()]*+")
_SAYS = "[说說问問喊叫嚷答吼骂罵叹嘆念写寫]"
_REPORTS = re.compile(
    f"{_SAYS}(?:着|著|完|罢|了|道)|[笑哭应應补補充释]道|(?<![疑访学顾小传听据]){_SAYS}$|(?<![知街通味报])道$|表示$"
)
_NEGATION = re.compile("[没沒不未]")
_NEWS = re.compile("[还還又再但]")  # 他还说，…: more is said, so a new sentence
# Words that can only start a sentence after …….
OPENS = re.compile(
    "[我你您他她它咱]|突然|忽然|后来|後來|于是|於是|但|可是|然而|不过|这时|這時|那时|此时|第二天|最后|最後|终于|接着|当|如今|现在"
)

# Characters that spell foreign names: a stop between two of them is the dot inside a name (特德.杰克逊).
SOUNDS = (
    "阿埃艾奥巴贝比伯布达戴德迪蒂杜恩尔法菲费弗夫格戈哈赫亨霍基吉加杰卡凯科克库拉莱兰朗勒雷里利莉琳卢鲁伦罗洛马玛迈麦曼"
    "梅米莫姆纳娜内尼努诺帕佩皮普奇乔萨塞桑瑟沙史斯苏索塔泰汤特托瓦韦维温沃乌西希谢休雅亚伊尤约泽扎詹珍朱兹"
)

CLAUSE_LIMIT = 24  # characters of a Chinese reporting clause
CLAUSE_TO_VERB = 12  # and of one that ends in its verb
REPORT_LIMIT = 72  # characters of an English one


def starts_usually(after: str) -> bool:
    """Whether the text after a full stop begins with a usual first word ("A." and "No." are not words there)."""
    match = FIRST_WORD.match(after)
    if match is None:
        return False
    adverb = match[1].endswith("ly") and match[1][0].isupper() and match[2] == ","  # "Inc. Conversely, the ..."
    return adverb or (match[1] in STARTERS and match[2] != ".")


def never_ends(word: str) -> bool:
    """Whether something must follow an abbreviation, so that not even a line break ends the sentence."""
    return word in TITLES or word.lower() in CONNECTORS


def may_end(word: str, previous: str, after: str) -> bool:
    """Whether a sentence may end at the full stop after word; `after` is the text from the next word on."""
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


def leans_on_quotation(text: str, n: int) -> bool:
    """Whether the Chinese words at n continue the sentence of the quotation before them."""
    if _LEANS.match(text, n):
        return True
    clause = _CLAUSE.match(text, n, n + CLAUSE_LIMIT)
    if clause is None or text[clause.end() : clause.end() + 1] in tuple(":：") or not clause[0]:
        return False
    verb = _REPORTS.search(clause[0])
    if verb is None or (verb.start() == 0 and verb[0][-1] in "完罢"):  # 说完她走了: the saying is over, a new sentence
        return False
    if verb.end() == len(clause[0]) > CLAUSE_TO_VERB:
        return False
    before = clause[0][max(0, verb.start() - 3) : verb.start() + 1]
    return not _NEGATION.search(before) and not _NEWS.search(clause[0])


def reports(text: str, n: int) -> bool:
    """Whether an English reporting clause begins at n: up to three names and a verb of saying."""
    words = text[n : n + REPORT_LIMIT].split()[:4]
    if words and words[0] in STARTERS and words[0] != "I":
        return False
    for word in words:
        if word.strip(".,!?;:") in SAYING:
            return True
        if not word[0].isupper():
            return False
    return False
