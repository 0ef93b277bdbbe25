"""Chinese words that decide what a mention is. All are folded: simplified characters."""

import re

# Traditional characters of these words and of frequent names, one to one.
SIMPLIFIED = str.maketrans(
    "該這個種們學國團協會樂隊廠組織機構銀業報醫縣區鎮島藥術產電書說專輯遊戲劇節項車長總統經師導員選運動創環東陽陳張劉楊黃趙"
    "吳孫馬羅鄭許鄧馮葉蘇盧蔣賈韓顧龍萬錢湯鍾譚賴龐顏齊門華興廣慶寧漢濟蘭臺灣聯發財務責監實網絡視縮寫譯綽號為稱別後舊現"
    "並間簡筆藝與關係飛時黨歐亞內變應點開條偉強軍麗傑鵬鳳輝寶貴勝澤潤紅蓮錦鋒鋼靜順愛雲夢詩維",
    "该这个种们学国团协会乐队厂组织机构银业报医县区镇岛药术产电书说专辑游戏剧节项车长总统经师导员选运动创环东阳陈张刘杨黄赵"
    "吴孙马罗郑许邓冯叶苏卢蒋贾韩顾龙万钱汤钟谭赖庞颜齐门华兴广庆宁汉济兰台湾联发财务责监实网络视缩写译绰号为称别后旧现"
    "并间简笔艺与关系飞时党欧亚内变应点开条伟强军丽杰鹏凤辉宝贵胜泽润红莲锦锋钢静顺爱云梦诗维",
)


def _tuple(words: str) -> tuple[str, ...]:
    """Longest first, so that the first one that fits is the longest."""
    return tuple(sorted(words.split(), key=lambda word: (-len(word), word)))


_PRONOUNS = {  # (kind of thing, gender, number): words
    ("person", "m", "one"): "他 他自己",
    ("person", "f", "one"): "她 她自己",
    ("person", "", "one"): "本人",
    ("person", "", "many"): "他们 她们",
    ("thing", "", "one"): "它 牠 它自己 此 这",
    ("thing", "", "many"): "它们 这些",
    ("", "", ""): "其 自己 自身 前者 后者",
}
PRONOUNS = {word: known for known, words in _PRONOUNS.items() for word in words.split()}
SPEAKERS = frozenset(_tuple("我 我们 咱们 俺 你 你们 您 笔者"))

POINTING = _tuple("该 此 本 上述 这 这家 这位 这个 这所 这座 这款 这部 这一 这种 那家 那位 那个")
_NOUNS = {  # heads of nominals, as in 该公司
    "organisation": "公司 企业 集团 机构 银行 大学 学院 学校 高校 校 院 行 厂 厂商 组织 协会 俱乐部 球队 乐队 部门 "
    "政府 政党 党 媒体 报社 出版社 基金 券商 医院",
    "place": "国 国家 市 城市 省 县 区 地区 镇 村 岛 地 城",
    "person": "人 男子 女子 先生 女士 演员 歌手 作家 教授 医生 总统 总理 主席 董事长 总裁 导演 球员 运动员 选手 学者 "
    "科学家 创始人 老师 男孩 女孩",
    "other": "方法 算法 模型 系统 技术 产品 药 药物 疾病 病 片 影片 电影 书 小说 专辑 歌曲 游戏 剧 节目 作品 项目 平台 "
    "车型 手机 法",
}
NOUNS = {word: thing for thing, words in _NOUNS.items() for word in words.split()}
HEADS = _tuple(" ".join(_NOUNS.values()))
METHODS = frozenset(_tuple("方法 算法 模型 系统 技术"))  # interchangeable
MEN = _tuple("先生 男子 男孩")
WOMEN = _tuple("女士 女子 女孩 小姐 夫人 太太")
WIVES = ("夫人", "太太")  # after the full name of a man: his wife
MANY = _tuple("们 等人 夫妇 兄弟 姐妹")  # after the name of several people

TITLES = _tuple(
    "先生 女士 小姐 夫人 太太 教授 博士 医生 老师 总经理 董事长 总裁 总统 总理 主席 主任 部长 省长 市长 书记 局长 院长 "
    "校长 经理 总监 院士 律师 法官 警官 导演 师傅 同志 总 董 某某 某 氏"
)
SURNAMES = frozenset(  # of two characters
    _tuple(
        "欧阳 司马 上官 诸葛 司徒 夏侯 慕容 东方 皇甫 尉迟 公孙 令狐 宇文 长孙 端木 南宫 独孤 司空 太史 "
        "申屠 公羊 钟离 呼延 闻人 鲜于 淳于 单于 轩辕 拓跋 澹台 万俟"
    )
)
FAMILIAR = ("小", "老", "阿")  # 小张, 老王

COMPANY = _tuple(  # after a name, ignored
    "股份有限公司 有限责任公司 有限公司 股份公司 集团公司 总公司 公司 控股 股份 集团 企业 科技 技术 网络 实业"
)
KIND = _tuple("大学 学院 中学 小学 银行 医院 出版社 俱乐部 足球俱乐部 电视台 日报 乐队")
INSTITUTIONS = _tuple(  # endings of names that are not short forms
    "大学 学院 中学 小学 学校 银行 医院 出版社 报社 日报 晚报 时报 周报 杂志社 电视台 电台 俱乐部 足球俱乐部 "
    "乐队 球队 公司 集团 委员会 协会 学会 基金会 联合会 商会 研究院 研究所 研究中心 实验室 博物馆 图书馆 美术馆 "
    "剧院 法院 检察院 政府 交易所 事务所"
)
REGION = _tuple("特别行政区 自治区 自治州 自治县 共和国 王国 省 市 县 区 镇 村 州 岛 国")
SELF_RULED = _tuple("自治区 自治州 自治县 特别行政区")
COUNTRY = _tuple("中华人民共和国 中国 国家 全国")  # before a name: 中国科学院

_OPENS = r"[“\"‘「『《'\s]*"
_CLOSES = r"[”\"’」』》'\s]*"
# Not just 称 and 叫: 张三称李四… is "says", 张三叫李四… is "calls".
ALIAS = re.compile(
    rf"""{_CLOSES}[，,（(；;、\s]*(?:
    (?:以下|下文|后文|中文|英文|法定|正式|官方|曾|后|现|其|并|通常|一般|最初|后来|早期|业内|民间)*
    (?:[简又也亦俗别统古旧或全通常被合]称|称为|称作|称之为|[又别本原曾旧全艺笔译俗学]名|曾用名|英文名|中文名|外号|绰号|商品名|
    [又也俗]叫|叫做|叫作|名为|名叫|改名|更名|缩写|代号)|(?<=[，,（(；;])[即字号]|(?<=[，,（(；;])(?:英|法|德|日|俄|拉丁|西班牙)[语文]名?(?=[：:]))
    (?:为|是|作|叫|成)*[：:\s]*{_OPENS}""",
    re.VERBOSE,
)
STYLE = re.compile("[字号]")  # without a comma only for people: 泰坦尼克号, 汉字
FURTHER = re.compile(rf"{_CLOSES}[，,、]?(?:或|或者|以及|又称|又名){_OPENS}")
# 许广平是其妻子: 其 is not 许广平. Not after a comma: 鲁迅，其妻子…
POSSESSIVES = frozenset(("其", "他", "她", "他们", "她们"))
COPULA = re.compile(r"(?:[就也便]?(?:是|为|乃|系)|即)")
RELATION = re.compile(
    r"的?(?:[前亡长次幼大二三小]|第[一二三]任|现任)?(?:妻子?|夫人|太太|丈夫|配偶|父亲?|母亲?|父母|儿子?|女儿|子女|长子|次子|长女|次女|兄|"
    r"弟|姐|妹|哥哥|祖父|祖母|叔|伯|舅|姨|姑|侄|孙|外甥|岳父|岳母|女婿|儿媳|恋人|女友|男友|老师|学生|弟子|师傅|徒弟|好友|朋友|同学|同事|上司|"
    r"下属|秘书|助手|继任者|前任|对手)"
)
GLOSS = re.compile(r"\s*[，,；;、/]\s*([A-Za-z][\w .&'-]{1,60})[)）]")  # a second foreign name, and the bracket ends
