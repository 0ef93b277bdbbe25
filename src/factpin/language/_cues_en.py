"""English cues: (status, reach, patterns), one pattern per line or between bars; a space matches any white space.

At the same position the earlier row wins, so words that only look like a cue ("not only", "no doubt") come first,
without a status. The reaches are explained in factpin/language/assertion.py.
"""

import re

_SAY = "said|says|told|stated|claimed|argued|argues|insisted|insists|wrote|reported"
# Verbs in the past by their form: "almost bought" did not, "almost all" did.
_PAST = (
    r"(?!(?:doubl|tripl|quadrupl|halv|unlimit)ed)\w+ed|had|was|were|became|began|beat|bought|broke|brought|built|came|caught"
    "|chose|cut|did|drew|drove|fell|fought|found|gave|got|grew|held|hit|kept|left|lost|made|met|put|ran|rose|sank|saw"
    "|sent|set|shot|sold|spent|struck|swept|taught|threw|told|took|went|won|wrote"
)
_OFFERED = "calls?|pressure|attempts?|efforts?|offers?|demands?|invitations?|temptation|overtures?"
_AGREED = "deal|merger|takeover|acquisition|sale|purchase|transfer|talks|contract|agreement|bid|marriage|wedding"

ROWS = (
    ("", "", r"""
        not (?:only|just|merely|simply|solely|least|surprisingly|coincidentally)
        not (?:far|long) (?:from|after|before)|not to mention|not unlike|if not|whether or not|or not|why not
        more often than not|not (?:exactly )?until|(?:could|can) ?not (?:help )?but|cannot help|can't help
        could not help|couldn't help|could not but|no doubt|without (?:a |any )?doubt|no wonder|no sooner|no matter
        (?:nobody|no one|no-one|few|\w+ly any(?:one|body)) (?:\w+ly |has |ever |can |would ){0,3}(?:doubt|disput)\w*
        (?:nobody|no one|no-one|few|\w+ly any(?:one|body)) (?:\w+ly |has |ever |can |would ){0,3}(?:den[iy]|question)\w*
        no (?:question|denying|disputing|dispute) (?:that|but)|(?:beyond|without) (?:\w+ )?(?:doubt|dispute|question)
        (?:hardly|scarcely|barely) (?:had|was|were|surprising\w*|a surprise|necessary)
        (?:hardly|scarcely) (?:an? |\d+ )(?:\w+ )?(?:minute|hour|day|week|month|year)s?
        no less|no fewer|no more than|no (?:later|earlier|sooner) than
        without (?:question|exception|fail)|not without|by no means least
        nothing (?:but|less than)|none other than|needless to say|never ?theless|no mean feat|no\. ?\d+|no(?=,)
        no stranger to|no small|no exception|as if|even if|if anything|if any|if so|if only|if ever|if necessary
        what if|if you will|(?:do|does|did)(?: not|n['’]t) (?:fail|cease|stop|hesitate|refuse|forget) (?:to|at)?
        never (?:fail|cease|stop)\w* (?:to)?|according to (?:plan|schedule|plans|custom|tradition|their \w+)
        according to (?:its \w+|whether|how)|according to (?:what)
        according to (?:which|(?:the |an? )?(?:type|number|size|age|sex|severity|protocol|standard|criteria))
        according to (?:which|(?:the |an? )?(?:method|guidelines?|weight|dose|level|degree|scale|rules?|law))
        as long as(?= \d)|likely as not|(?:more|less) likely|free of charge
        could (?:\w+ )?(?:afford|see|hear|speak|read|write)|as far as possible
        never (?:forg[eo]t|neglect(?:ed)?|hesitated?) (?:to)?
        (?:soonest|earliest|latest|best|highest|first|every|all|lowest|greatest|fullest|only) possible|no choice but
        as \w+ as possible|where possible|we (?:here )?(?:report|describe|present)
        (?:case|annual|news|police|interim|final) reports?
        (?:carr(?:y|ies|ied) out|complet(?:es?|ed)|fulfill?(?:s|ed)?) (?:\w+ )?plans? (?:to|for)
        (?:the|this|these|those) said(?= \w)|(?:can|could|may|might|must|should) be said
        (?:never|not|\w+n['’]t) (?:yet )?(?:reali[sz]|know|knew|notic|mention)\w*(?: of the fact)? that
        (?:never|not|\w+n['’]t) (?:yet )?(?:recogni[sz]e|remember|forget|forgot|aware)\w*(?: of the fact)? that
        is believed that this is
        that is to say|that said|having said that|said to be continued|not later than|not exceeding|if not more
    """),
    ("hedged", "clause", r"""
        (?:can|could)(?: ?not|n['’]t) (?:yet )?be (?:ruled out|excluded|confirmed|verified|ascertained)
        (?:has|have|had|was|were|is|are)(?: not|n['’]t) (?:yet )?(?:been )?(?:confirmed|verified|proven)
        (?:has|have|had|was|were|is|are)(?: not|n['’]t) (?:yet )?(?:been )?(?:proved|settled|clear|certain)
        (?:is|are|was|were|remains?|remained) (?:still )?(?:unclear|uncertain|unconfirmed|unproven|disputed|debated)
        (?:is|are|was|were|remains?|remained) (?:still )?(?:doubtful|in doubt|controversial)
        (?:is|are|was|were|remains?|remained) (?:still )?(?:possible(?! to)|speculative|questionable|unlikely)
        not (?:entirely |yet )?(?:clear|certain|known) (?:whether|if|that)
    """),
    ("hedged", "after", r"""
        (?:can|could)(?: ?not|n['’]t) (?:rule out|exclude)
        (?:do|does|did|has|have)(?: not|n['’]t) (?:rule[d]? out|exclude[d]?|den(?:y|ied))|neither confirmed nor denied
        (?:do|does|did|has|have)(?: not|n['’]t) (?:dispute[d]?|doubt(?:ed)?|contest(?:ed)?|question(?:ed)?)
        never denied|not denied|not necessarily|not certain|not sure|not clear|no certainty
    """),
    ("negated", "cleft", r"""
        it (?:is|was)(?: not|n['’]t)(?= (?:by|for|in|on|at|from|through|with|until|under|out of)\b[^.,;:]{1,60}? that\b)
    """),
    ("negated", "outer", r"""
        (?:it )?(?:is|was)(?: not|n['’]t) (?:true|the case|correct|so|proven) that
        (?:is|was) (?:false|untrue|wrong|a myth|a misconception|a legend) that|den(?:y|ies|ied|ying)(?: that)?
        no (?:\w+ )?(?:evidence|proof|sign|signs|indication) (?:that|of|for)
        no (?:\w+ )?(?:record|records|trace|traces|basis|support) (?:that|of|for)|contrary to (?:\w+ ){0,3}?that
        contrary to|refut(?:es?|ed|ing)|disprov(?:es?|ed|en|ing)|debunk(?:s|ed|ing)?
        dismiss(?:es|ed) (?:\w+ ){0,3}?that
    """),
    ("negated", "clause", r"""
        (?:is|are|was|were|been|proved|proven) (?:\w+ly )?(?:false|untrue|incorrect|mistaken)
        (?:is|are|was|were|been|proved|proven) (?:\w+ly )?(?:fabricated|a hoax|a myth|baseless|unfounded)
        (?:is|are|was|were|been|be) (?:\w+ly )?(?:ruled out|refuted|disproved|disproven|debunked)
    """),
    ("negated", "event", r"""
        (?:is|are|was|were|been|be) (?:\w+ly |later |then )?(?:rejected|cancelled|canceled)
        (?:is|are|was|were|been|be) (?:\w+ly |later |then )?(?:called off|blocked|abandoned|scrapped)
        (?:is|are|was|were|been|be) (?:\w+ly |later |then )?(?:vetoed|aborted|turned down)
        (?:is|are|was|were|been|be) (?:\w+ly |later |then )?(?:shelved|dropped|halted|stopped)
        (?:fell through|collapsed|came to nothing|failed)(?= ?[.,;]|$)
    """),
    ("negated", "after", rf"""
        (?:has|have|had|is|are|was|were) yet to|remain(?:s|ed)? to be(?! (?:seen|shown|proven|confirmed|determined))
        (?:was|were) to have(?! (?:the|an?|his|her|its|their|no|\d+)\b)
        (?:almost|nearly)(?= (?:{_PAST})\b)|(?:came|come|comes) (?:\w+ )?(?:close|near) to|narrowly (?:miss|fail)\w*
        hardly|scarcely|barely (?:ever|any)
        (?:no longer|not any longer|neither|nor|never|nobody|no one|no-one|nowhere|none|nothing|cannot)
        (?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|must|need|may|might|shall) not|not
        (?:do|does|did|is|are|was|were|has|have|had|ca|could|wo|would|should|must|need|might|ai|sha)n['’]t
        (?-i:[Nn]o)(?= (?-i:[a-z]))
        without|lack(?:s|ed|ing)?|(?:lack|absence|want) of|(?:in the )?absence of|devoid of|free of|free from
        negative for|fail(?:s|ed|ing)? to|unable to|incapable of|refus(?:es?|ed|ing) to
        (?:failure|inability|refusal|unwillingness) (?:to|of(?= [^.,;:]{{1,40}}? to\b))
        declin(?:es?|ed|ing)(?: to|(?= (?:the|an?|his|her|its|their|any)\b))|unwilling to
        (?:neglect(?:s|ed)?|omit(?:s|ted)?|forgets?|forgot) to|ceas(?:es?|ed|ing) to
        (?:stop(?:s|ped)|ceas(?:es?|ed)|quits?|discontinued|avoid(?:s|ed)|far from)(?= \w+ing)
        turn(?:s|ed|ing)?(?: down|(?= \w+ down))|(?:opt(?:s|ed)?|decid(?:es?|ed)|chose) against|stop(?:s|ped)? short of
        (?:refrain|abstain)(?:s|ed|ing)? from|pass(?:es|ed)? (?:up|over(?= [^.,;:]{{1,40}}? for))
        resist(?:s|ed|ing)?(?= [^.,;:]{{0,30}}?\b(?:{_OFFERED})\b)
        (?:walk|back|pull|step|shie)(?:s|d|ed)? (?:away|out|back) (?:from|of)(?= [^.,;:]{{0,30}}?\b(?:{_AGREED})\b)
        (?:acquitted|cleared|absolved|exonerated|exempt(?:ed)?|excused|banned|prohibited|precluded|deterred) (?:of|from)
        forbid(?:s|den|ding)?|forbade|prohibit(?:s|ing)?
        (?:is|are|was|were|be|been|left|remain(?:s|ed)?) (?:\w+ly )?un(?:related|connected|affected|touched|involved)
        (?:is|are|was|were|be|been|left|remain(?:s|ed)?) (?:\w+ly )?un(?:signed|ratified|approved|paid|published)
        (?:falsely|wrongly|erroneously|mistakenly|incorrectly) (?:attribut|credit|claim|nam|identif|list|report)\w*
        (?:falsely|wrongly|erroneously|mistakenly|incorrectly) (?:stat|believ|thought|said|accus|describ|assum|link)\w*
        gave up|call(?:s|ed|ing) off|cancell?(?:s|ed|ing)?
        (?:abandon|scrap|block|veto)\w*(?= [^.,;:]{{0,40}}?\b(?:plan|plans|attempt|idea|bid)\b)
        (?:reject|drop|shelv|halt|thwart)\w*(?= [^.,;:]{{0,40}}?\b(?:plan|plans|attempt|idea|bid)\b)
        (?:abandon|scrap|block|veto)\w*(?= [^.,;:]{{0,40}}?\b(?:effort|project|proposal|deal|merger)\b)
        (?:reject|drop|shelv|halt|thwart)\w*(?= [^.,;:]{{0,40}}?\b(?:effort|project|proposal|deal|merger)\b)
        (?:abandon|scrap|block|veto)\w*(?= [^.,;:]{{0,40}}?\b(?:takeover|acquisition|sale|purchase|transfer)\b)
        (?:reject|drop|shelv|halt|thwart)\w*(?= [^.,;:]{{0,40}}?\b(?:takeover|acquisition|sale|purchase|transfer)\b)
        (?:abandon|scrap|block|veto)\w*(?= [^.,;:]{{0,40}}?\b(?:offer|claim|claims|hope|suggestion)\b)
        (?:reject|drop|shelv|halt|thwart)\w*(?= [^.,;:]{{0,40}}?\b(?:offer|claim|claims|hope|suggestion)\b)
        prevent(?:s|ed|ing)?(?= [^.,;:]{{1,50}}? from)|bar(?:s|red)(?= \w+ from)
        (?:lost|loses) (?:its|his|her|their|the) ability|rul(?:es?|ed|ing) out
        exclud(?:es?|ed|ing) (?=\w+ (?:as|of|from))
    """),
    ("negated", "next", r"""
        rather than|instead of|as opposed to
    """),
    ("hedged", "after", r"""
        (?:ask|asks|asked|wonder|wonders|wondered|see|know|unclear) (?:if|whether)
        (?:unsure|unknown|check|determine|determined|test|tested|doubt|doubts|find out|found out) (?:if|whether)|whether
    """),
    ("conditional", "unless", r"""
        unless
    """),
    ("conditional", "condition", r"""
        if|provided that|providing that|on condition that|on the condition that|as long as|so long as
        (?<!.)provided(?! (?:with|by|for)\b)(?= [^.,;:]{3,80},)
        in the event (?:of|that)|assuming that|in case|suppose that
        subject to(?= (?:[\w'’-]+ ){0,4}?(?:approvals?|consents?|clearances?|ratification|permission)\b)
        subject to(?= the condition\b)
        (?<!.)subject to(?= [^.;:]{3,80},)
        contingent on|only if|were it not for|(?<!.)(?:should|had|were)(?= \w+ ?[\w ,'-]{0,80}?(?:,))
    """),
    ("hedged", "after", r"""
        (?-i:may|might)|could|perhaps|maybe|possibl[ye]|probabl[ye]|presumably|supposedly|seemingly|apparently
        conceivably|arguably|potential(?:ly)?|likely|unlikely|likelihood|possibility|seem(?:s|ed|ingly)?
        appear(?:s|ed)? (?:to|that)|suggest(?:s|ed|ing)?(?: that)?|suspects? that|suspected|suspicion
        (?:is|are|was|were|been|widely|generally|commonly|often) (?:\w+ly )?(?:believed|thought|presumed)
        (?:is|are|was|were|been|widely|generally|commonly|often) (?:\w+ly )?(?:assumed|rumou?red)
        (?:is|are|was|were|been|widely|generally|commonly|often) (?:\w+ly )?(?:speculated|hypothesi[sz]ed|supposed)
        believ(?:es?|ed) (?:that|to)|think(?:s)? that|thought that|assum(?:es?|ed) that
        speculat(?:es?|ed|ion)(?: that)?|rumou?r(?:s|ed)?|hypothesi[sz]e[sd]?|doubt(?:s|ed|ful)?|unconfirmed
        unverified|putative|purported(?:ly)?|tentative(?:ly)?|provisional(?:ly)?|questionable|hint(?:s|ed) (?:at|that)
        plan(?:s|ned|ning)? (?:to|on|for)|intend(?:s|ed|ing)? to|hop(?:es?|ed|ing) (?:to|that)|aim(?:s|ed|ing)? to
        wants? to|wanted to|wish(?:es|ed)? to|seek(?:s|ing)? to|sought to|(?:try|tries|tried|trying) to
        attempt(?:s|ed|ing)? (?:to|at)|expect(?:s|ed)? (?:to|that)|scheduled to
        (?:is|are|was|were) (?:set|due|poised|about) to|slated to
        (?:is|are|was|were|been) (?:considering|weighing|negotiating|planning|proposing|exploring)|in talks
        (?:is|are|was|were|been) (?:mulling|eyeing|pondering|contemplating|courting|hoping|aiming)
        (?:is|are|was|were|been|be) (?:\w+ )?(?:tipped|keen|eager|willing|ready|prepared|tempted|on (?:track|course)) to
        in negotiations|propos(?:es?|ed|ing) (?:to|that|a|an)
    """),
    ("hedged", "after", r"""
        in all (?:probability|likelihood)
        proposed(?= (?:\w+ ){0,3}(?:legislation|bill|law|merger|takeover|acquisition|deal|sale|plan|transfer)\b)
    """),
    ("conditional", "after", r"""
        would have|would['’]ve
    """),
    ("reported", "sentence", r"""
        according to|reportedly|allegedly|purportedly|in the words of|by (?:his|her|their|its|some|most|all) accounts?
        as reported|as (?:\w+ ){1,3}(?:tells|told|has|had) it|as the \w+ goes
        it is (?:said|reported|claimed|alleged) that|it was (?:said|reported|claimed|alleged) that
    """),
    ("reported", "after", r"""
        accus(?:es?|ed|ing)|alleg(?:es?|ed|ing|ations?)(?: that)?
        (?:is|are|was|were|been) (?:said|reported|claimed|alleged|told) (?:to|that)|charged with|charges that
        on charges of
    """),
    ("reported", "speech", rf"""
        (?:{_SAY})(?= [^.]{{0,60}}\bthat\b)|said|says|told|stated|insist(?:s|ed)?(?! on)|testif(?:y|ies|ied) that
        announc(?:es?|ed|ing)|claim(?:s|ed|ing)? that|claim(?:s|ed|ing) to|(?:states|reports|adds|added) that
        claimed(?= ?[.,]|$)|asserts?(?: that)|asserted|maintains that|maintained that|argu(?:es?|ed) that
        contend(?:s|ed)? that|declar(?:es?|ed) that|writes that|wrote that|reported(?= ?,)
        (?:agency|newspaper|paper|media|times|post|press) (?:reports|reported|writes|wrote)
        (?:journal|magazine|news|bbc|reuters|officials?|spokes\w+) (?:reports|reported|writes|wrote)
    """),
)  # fmt: skip

HARD = re.compile(
    r"[;:—!?]|\s[-–]\s|\b(?:but|although|though|whereas|while|however|because)\b"
    r"|,?(?<!\s)\s{1,4}(?:and|or|then)\s{1,4}(?:then |later |instead |also |subsequently |only |finally )?"
    r"(?:\w+ed|was|is|are|were|has|had|does|did|went|became|took|left|began|won|made|wrote|gave|came|got|grew|kept|lost|held|built|sold|bought|comments|does)\b"
    r"(?!\s{1,4}by\b)",
    re.IGNORECASE,
)
STOP = re.compile(r";|,\s*(?:but|however|although|whereas)\b", re.IGNORECASE)  # where even a report ends
TITLE = re.compile(r"[\"“]\s?[A-Z][^\"“”.,!?;:]{0,40}[\"”]")
# Norway's capital Oslo, cocaine-induced seizures, seizures induced by cocaine: the pair is one noun phrase, and what is
# denied is something about it.
PHRASE = re.compile(
    r"(?:['’]s?)?\s(?:\w{1,12}\s)?(?:wife|husband|son|daughter|father|mother|brother|sister|chief executive|ceo"
    r"|president|chairman|chairwoman|chair|founder|co-founder|director|singer|author|captain|coach|mayor|minister"
    r"|premier|star),?\s"
    r"|[-‐–\s](?:induced|related|associated|evoked|elicited|provoked)\s(?:\w{1,20}\s){0,2}"
    r"|\s(?:induced|caused|evoked|elicited|provoked|produced)\sby\s(?:\w{1,20}\s){0,4}|\s"
    r"|\s(?:\w{1,20}\s)?(?:associated\swith|due\sto|secondary\sto)\s(?:[\w-]{1,20}\s){0,2}",
    re.IGNORECASE,
)
# What is open here is how or when, not whether.
HOW = re.compile(
    r"\b(?:mechanisms?|pathogenesis|a?etiology|reasons?|dates?|extent|degree|how|why|when)\b", re.IGNORECASE
)
# A comma that goes on with a list: ", London or Rome", ", or Rome".
LISTED = re.compile(
    r",\s{0,4}(?:(?:and|or|nor)\s+(?!\w+ed\b)[\w'’-]+"
    rf"|(?!\S+\s+(?:{_SAY})\b)[A-Z\d][\w'’.-]*(?:\s+[A-Z\d][\w'’.-]*){{0,3}})"
    r"(?=\s*(?:,|;|\.|$)|\s+(?:and|or|nor)\b)"
)
JOINED = re.compile(r"\s?,?\s?(?:and|or|nor|as well as|&)\s(?:the\s)?")
BEFORE_LATER: re.Pattern[str] | None = None
FRONTED = re.compile(
    r"(?:in|at|on|from|with|for|to|of|by|under|against|within|outside|near|among|unlike|like)(?:\s+(?:the|a|an))?\s*",
    re.IGNORECASE,
)
# What says that an event mentioned before did not happen: "the sale … was not completed".
PREDICATE = re.compile(
    r"\s*(?:(?:yet|be|been|being|actually|really|ever|even|fully|formally)\s+){0,3}"
    r"(?:t(?:ake|ook|aken) place|happen|occur|go(?:ne)? ahead|went ahead|go through|complete|exist|true|correct"
    r"|accurate|approve|materiali[sz]e|succeed|reali[sz]ed|valid|allowed|permitted|possible|recogni[sz]ed|supported"
    r"|established|detected|found\b|observed|seen\b|significant|signed|ratified|renewed|finali[sz]ed|reached|agreed|related"
    r"|granted|consummated|connected|linked|associated)"
    r"(?!\w*\s(?:the|an?|any|his|her|its|their)\b)",  # never completed the merger: of something else
    re.IGNORECASE,
)
# What can be called off: a cue of the reach `event` needs one of these before it.
EVENT = re.compile(
    r"\b(?:plan|proposal|deal|project|bid|merger|scheme|talk|idea|sale|takeover|acquisition|transfer|purchase|offer|claim|"
    r"request|appeal|application|agreement|treaty|wedding|marriage|match|concert|visit|move)s?\b",
    re.IGNORECASE,
)
DONE = re.compile(r"(?!)")  # no English cue is a charge
UNTIL = re.compile(r"\buntil\b", re.IGNORECASE)
