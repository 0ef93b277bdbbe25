"""Coreference: which full name a short form means, and which it must not: institutions, places, people, numbers, types.

Neighbouring cases differ in as little as possible: what merges in one must stay apart in the next.
"""

from dataclasses import replace

import numpy as np
import pytest

from factpin.documents import Document
from factpin.language._coreference_names import fold, read
from factpin.language._coreference_types import thing_of
from factpin.language.coreference import PairScores, candidates, resolve
from tests.language.test_coreference import clusters, marked

INSTITUTIONS = [
    ("机构", "[1:中国银行]和[2:中国工商银行]放贷。"),
    ("机构", "[1:中国银行]和[2:中国工商银行]放贷。[1:中行]获利。[2:工行]亏损。"),
    ("机构", "[1:工商银行]上市。[1:中国工商银行股份有限公司]获利。"),
    ("机构", "[1:上海大学]和[2:上海交通大学]招生。"),
    ("机构", "[1:浙江大学]和[2:浙江工业大学]招生。[1:浙大]放假。"),
    ("机构", "[1:中国日报]和[2:中国青年日报]报道。"),
    ("机构", "[1:北京大学]、[2:北方大学]、[3:北京师范大学]招生。[4:北大]放假。"),
    ("机构", "[1:北京大学]、[3:北京师范大学]招生。[1:北大]放假，[3:北师大]没有。"),
    ("机构", "[3:北京师范大学]、[1:北京大学]招生。[1:北大]放假。"),
    ("", "[1:北京大学]、[3:北京师范大学]招生。[1:北大]放假。"),
    ("机构", "[1:北京大学]和[2:北京大学出版社]开会。"),
    ("机构", "[1:清华大学]和[2:北京大学]开会。[1:清华]发言。"),
    ("机构", "[1:国家发改委]开会。[1:国家发展和改革委员会]发文。[1:发改委]解释。"),
    ("机构", "[1:国家工程院]开会。[2:国家工程研究院]发文。"),
    ("机构", "[1:世界卫生组织]（[1:World Health Organization]，[1:WHO]）开会。[1:WHO]发言。"),
    ("机构", "[1:世界卫生组织]（[1:WHO]，[1:World Health Organization]）开会。"),
    ("机构", "[1:世界卫生组织]（英语：[1:World Health Organization]，缩写：[1:WHO]）开会。"),
    ("机构", "[1:世界卫生组织]与[2:World Health Foundation]、[3:WHO]开会。"),
    ("ORG", "[1:IBM Corp.] grew. [1:IBM] hired. [1:International Business Machines Corporation] paid."),
    ("ORG", "[1:International Business Machines Corporation] grew. [1:IBM Corp.] hired."),
    ("ORG", "[1:International Business Machines Corporation] grew. [2:ICM Corp.] hired."),
]  # fmt: skip

PLACES = [
    *(("LOC", f"[1:{name}] is near [2:{name} City]. [1:{name}] grew.")
      for name in ("Mexico", "Quebec", "Kansas", "Oklahoma", "Panama", "Guatemala", "Luxembourg", "New York")),
    ("", "[1:Kansas City] is not in [2:Kansas]."),
    ("LOC", "[1:Mexico City] is old. [2:Mexico] is large."),
    ("LOC", "[1:City of Mexico] is old. [2:Mexico] is large."),
    ("LOC", "[1:City of Chicago] is old. [1:Chicago] is large."),
    ("LOC", "[1:Mexico City], also known as [1:Mexico], is old."),
    ("LOC", "[1:Washington, D.C.] is old. [1:Washington] is large."),
    ("LOC", "[1:USA], [1:U.S.], [1:US], [1:United States], [1:the United States of America]; [2:the UK]"),
    ("", "[1:USA] and [1:United States] and [2:United Kingdom]."),
    ("Chemical", "[1:US] is no [2:USA]."),
]  # fmt: skip

PEOPLE = [
    ("PER", "[1:Adam Smith] came. [2:Susan Smith] came. [3:Mr. Smith] sat. [4:Ms. Smith] left."),
    ("PER", "[1:Mr. Adam Smith] came. [2:Susan Smith] came. [1:Mr. Smith] sat. [2:Ms. Smith] left. [3:Smith] slept."),
    ("PER", "Mr. [1:Adam Smith] came. [2:Susan Smith] came. Mr. [1:Smith] sat. Ms. [2:Smith] left. [3:Smith] slept."),
    ("PER", "[1:Adam Smith] came. Ms. [2:Susan Smith] came. Mr. [1:Smith] sat."),
    ("PER", "[1:Dr. Ann Lee] came. [2:Tom Lee] came. [1:Dr. Lee] sat."),
    ("PER", "[1:Ann Lee] came. Dr. [2:Tom Lee] came. Dr. [2:Lee] sat."),
    ("PER", "[1:Marie Curie] met [2:Pierre Curie]. [3:Curie] died in 1934."),
    ("PER", "[1:Marie Curie] met [2:Pierre Curie]. [1:Marie Curie] taught. [1:Curie] died in 1934."),
    ("PER", "[1:Marie Curie] taught. [1:Curie] met [2:Pierre Curie]. [1:Curie] died in 1934."),
    ("PER", "[1:John A. Smith] met [2:Mary Smith]. [1:John Smith] left. [1:Smith] slept."),
    ("PER", "[1:John Smith] met [2:James Smith]. [3:J. Smith] left. [4:Smith] slept."),
    ("PER", "Mr. [1:Lee] came. [1:Lee] left."),
    ("PER", "[1:Tom Lee] came. Mr. and Mrs. [1:Lee] sat. [1:He] left."),
    ("PER", "Mr. [1:Lee] came with Ms. [2:Lee]. Mr. [1:Lee] left."),
    ("人物", "[1:王伟]先生和[2:王芳]女士来了。[2:王]女士走了。[1:王]先生睡了。"),
    ("人物", "[1:王伟先生]和[2:王芳女士]来了。[2:王女士]走了。[1:王先生]睡了。"),
    ("人物", "[1:王伟]和[2:王芳]来了。[3:王女士]走了。"),
    ("人物", "[1:张伟]教授和[2:张娜]来了。[1:张教授]走了。"),
    ("人物", "[1:张伟]和[2:张娜]来了。[1:张伟]坐下。[1:小张]走了。"),
    ("人物", "[1:张伟]来了。[1:张教授]坐下。[2:张娜]来了。[1:小张]走了。"),
    ("人物", "[1:李明]和[2:李明夫人]来了。[1:李明先生]走了。"),
    ("人物", "[1:李明]夫人来了。[1:他]走了。"),
    ("人物", "[1:欧阳修]和[2:王安石]来了。[1:欧阳先生]走了。"),
    ("人物", "[1:安娜·史密斯]来了。[1:安娜]坐下。[1:史密斯]走了。"),
    ("人物", "[1:安娜·史密斯]来了。[2:安娜·布朗]坐下。[1:史密斯]走了。[2:布朗]睡了。[3:安娜]醒了。"),
    ("人物", "[1:乔治·布什]来了。[1:布什总统]走了。"),
    ("人物", "[1:唐纳德·特朗普]（[1:Donald Trump]）来了。"),
    ("人物", "[1:唐纳德·特朗普]（[2:约翰·史密斯]）来了。"),
]  # fmt: skip

NUMBERS = [
    ("PER", "[1:They] left. [2:He] came."),
    ("PER", "[1:He] came. [2:They] left."),
    ("", "[1:They] left. [2:He] came."),
    ("PER", "[1:Williams] came. [1:He] sat."),
    ("PER", "[1:Williams] came. [1:He] sat. [2:They] left."),
    ("PER", "[1:The man] came. [2:They] left."),
    ("ORG", "[1:United Airlines] grew. [1:It] hired."),
    ("人物", "[1:他们]走了。[2:他]来了。"),
    ("人物", "[1:张三]来了。[2:他们]走了。"),
    ("人物", "[1:该男子]来了。[2:他们]走了。[1:他]坐下。"),
    ("人物", "[1:鲁迅]很有名。[2:许广平]是[1:其]妻子。"),
    ("人物", "[1:许广平]是[2:其]妻子。"),
    ("人物", "[1:许广平]很有名。[1:其]妻子也来了。"),
    ("PER", "[1:Ann Hill] is known. [2:Mary Hill] was [1:her] mother."),
    ("人物", "[1:鲁迅]，[1:其]妻子也来了。"),
    ("PER", "[1:Ann Hill], [1:her] mother and a friend came."),
    ("PER", "[1:Mary Hill] lost [1:her] mother."),
]  # fmt: skip

CASES = INSTITUTIONS + PLACES + PEOPLE + NUMBERS


@pytest.mark.parametrize(("type", "case"), CASES, ids=[case for _, case in CASES])
def test_short_form(type: str, case: str) -> None:
    doc = marked(case, type)
    assert clusters(resolve(doc)) == clusters(doc)


def test_a_scorer_may_tell_what_the_rules_leave_open() -> None:
    doc = marked("[1:Marie Curie] met [2:Pierre Curie]. [1:Curie] died in 1934.", "PER")
    said = np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.6]])  # of Curie: Pierre, Marie
    asked = candidates(doc).antecedent
    assert asked[2].tolist() == [1, 0]
    assert clusters(resolve(doc, judged=PairScores(asked, said))) == clusters(doc)


@pytest.mark.parametrize(("one", "other"), [("中国银行", "中国工商银行"), ("Mexico", "Mexico City")])
def test_no_scorer_joins_names_that_are_known_to_be_two(one: str, other: str) -> None:
    doc = marked(f"[1:{one}] [2:{other}]", "ORG" if one == "中国银行" else "LOC")
    judged = PairScores(candidates(doc).antecedent, np.array([[0.0], [0.99]]))
    assert len(resolve(doc, judged=judged).entities) == 2


def test_a_scorer_that_may_neither_add_nor_refuse_changes_nothing() -> None:
    doc = marked("[1:John Smith] met [2:Mary Smith]. [3:Smith] left. [4:He] slept. [5:Smith] woke.", "PER")
    asked = candidates(doc).antecedent
    said = np.where(asked >= 0, 0.2, 0.0)
    assert resolve(doc, judged=PairScores(asked, said, keep=0.0, add=2.0)) == resolve(doc)


# ---- one name, two types --------------------------------------------------------------------------------------------


def predicted(case: str) -> Document:
    """As if a model had found the mentions."""
    doc = marked(case)
    return replace(doc, mentions=tuple(replace(mention, score=0.9) for mention in doc.mentions))


@pytest.mark.parametrize(
    ("case", "types"),
    [
        ("[1 MISC:NSH] and [1 ORG:NSH]", ["ORG"]),
        ("[1 MISC:NSH] and [1 ORG:NSH] and [1 MISC:NSH]", ["MISC"]),
        ("[1 MISC:UN] and [2 ORG:UN]", ["MISC", "ORG"]),
        ("[1 其他:腾讯]和[1 机构:腾讯]", ["机构"]),
        ("[1 LOC:Valjevo] [1 LOC:Valjevo] [1 PER:Valjevo] [1 LOC:Valjevo]", ["LOC"]),
        ("[1 LOC:Valjevo] [2 PER:Valjevo] [1 LOC:Valjevo]", ["LOC", "PER"]),
        ("[1 PER:Ford] [1 PER:Ford] [1 PER:Ford] drove a [2 ORG:Ford]", ["PER", "ORG"]),
        ("[1 PER:John Ford] drove a [2 ORG:Ford], [2 ORG:Ford], [2 ORG:Ford]. [1 PER:Ford] left.", ["PER", "ORG"]),
        ("[1 LOC:French] wine, [2 MISC:French] words", ["LOC", "MISC"]),
        ("[1 TIME:1999] and [2 MISC:1999]", ["TIME", "MISC"]),
        ("[1 MISC:NSH] and [2 ORG:NSH] and [3 PER:NSH]", ["MISC", "ORG", "PER"]),
    ],
)
def test_a_name_that_was_predicted_with_two_types_has_that_of_the_document(case: str, types: list[str]) -> None:
    doc = predicted(case)
    found = resolve(doc)
    assert clusters(found) == clusters(doc)
    assert [entity.type for entity in found.entities] == types
    assert found.mentions == doc.mentions


def test_types_that_people_chose_are_not_voted_on() -> None:
    assert len(resolve(marked("[1 MISC:NSH] and [2 ORG:NSH] and [2 ORG:NSH] and [2 ORG:NSH]")).entities) == 2


def test_the_name_has_the_kind_of_thing_of_the_type_that_won() -> None:
    (name,) = read(predicted("[1 MISC:NSH] and [1 ORG:NSH]")).names
    assert (name.type, name.thing) == ("ORG", thing_of("ORG")) and name.mentions == [0, 1]


# ---- emoji ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("[1:🔥Acme Ltd🔥] grew. [1:Acme Ltd] hired.", "Acme Ltd"),
        ("[1:Acme Ltd ❤️] grew. [1:Acme] hired. [1:Acme] paid. [1:Acme Ltd] fell.", "Acme Ltd"),
        ("[1:腾讯🚀🚀]上涨。[1:腾讯]获利。", "腾讯"),
        ("[1:★腾讯★]上涨。", "★腾讯★"),
    ],
)
def test_emoji_at_its_ends_make_no_better_name(case: str, name: str) -> None:
    (entity,) = resolve(marked(case, "ORG")).entities
    assert entity.name == name


def test_folding_forgets_symbols_at_the_ends_alone() -> None:
    assert fold("👍🏽 Acme™") == fold("Acme") and fold("I ❤ Acme") != fold("I Acme")
    assert fold("🔥") == "🔥" and fold("20 °C") == "20 °c" and fold("C++") == "c++"
