"""Names of countries and of their parts, in English (present and past, with the forms that texts use) and in Chinese.

They are compared without "the". A state that shares its name with a city (New York, Washington) is not in the list.
"""

import re

_NAMES = """
Afghanistan, Albania, Algeria, Andorra, Angola, Antigua and Barbuda, Argentina, Armenia, Australia, Austria,
Azerbaijan, Bahamas, Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bhutan, Bolivia, Bosnia and
Herzegovina, Bosnia, Botswana, Brazil, Brunei, Bulgaria, Burkina Faso, Burma, Burundi, Cambodia, Cameroon, Canada,
Cape Verde, Central African Republic, Chad, Chile, China, Colombia, Comoros, Congo, Costa Rica, Croatia, Cuba, Cyprus,
Czechia, Czech Republic, Democratic Republic of the Congo, Denmark, Djibouti, Dominica, Dominican Republic, East
Timor, Ecuador, Egypt, El Salvador, England, Equatorial Guinea, Eritrea, Estonia, Eswatini, Ethiopia, Fiji, Finland,
France, Gabon, Gambia, Georgia, Germany, Ghana, Great Britain, Britain, Greece, Grenada, Guatemala, Guinea,
Guinea-Bissau, Guyana, Haiti, Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel,
Italy, Ivory Coast, Côte d'Ivoire, Jamaica, Japan, Jordan, Kazakhstan, Kenya, Kiribati, Kosovo, Kuwait, Kyrgyzstan,
Laos, Latvia, Lebanon, Lesotho, Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Macau, Macedonia, North
Macedonia, Madagascar, Malawi, Malaysia, Maldives, Mali, Malta, Marshall Islands, Mauritania, Mauritius, Mexico,
Micronesia, Moldova, Monaco, Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nauru, Nepal, Netherlands,
New Zealand, Nicaragua, Niger, Nigeria, North Korea, Northern Ireland, Norway, Oman, Pakistan, Palau, Palestine,
Panama, Papua New Guinea, Paraguay, Peru, Philippines, Poland, Portugal, Puerto Rico, Qatar, Romania, Russia, Russian
Federation, Rwanda, Saint Kitts and Nevis, Saint Lucia, Saint Vincent and the Grenadines, Samoa, San Marino, Saudi
Arabia, Scotland, Senegal, Serbia, Seychelles, Sierra Leone, Singapore, Slovakia, Slovenia, Solomon Islands, Somalia,
South Africa, South Korea, Korea, South Sudan, Spain, Sri Lanka, Sudan, Suriname, Swaziland, Sweden, Switzerland,
Syria, Taiwan, Tajikistan, Tanzania, Thailand, Togo, Tonga, Trinidad and Tobago, Tunisia, Turkey, Türkiye,
Turkmenistan, Tuvalu, Uganda, Ukraine, United Arab Emirates, UAE, United Kingdom, UK, U.K., Great Britain and Northern
Ireland, United States, United States of America, USA, U.S.A., US, U.S., America, Uruguay, Uzbekistan, Vanuatu,
Vatican City, Venezuela, Vietnam, Wales, Western Sahara, Yemen, Zambia, Zimbabwe, People's Republic of China, PRC,
Republic of China, Republic of Ireland, Republic of Korea, Austria-Hungary, Austro-Hungarian Empire, Bohemia, British
Empire, British India, British Raj, Byzantine Empire, Ceylon, Confederate States, Confederate States of America,
Czechoslovakia, East Germany, German Democratic Republic, Federal Republic of Germany, German Empire, Nazi Germany,
Holy Roman Empire, Kingdom of England, Kingdom of France, Kingdom of Great Britain, Kingdom of Hungary, Kingdom of
Italy, Kingdom of Prussia, Kingdom of Scotland, Kingdom of Sardinia, Kingdom of Poland, Ottoman Empire, Ottoman
Turkey, Persia, Prussia, Rhodesia, Roman Empire, Russian Empire, Siam, Soviet Union, USSR, U.S.S.R., Soviet Russia,
Weimar Republic, West Germany, Yugoslavia, Zaire, Qing dynasty, Ming dynasty, Republic of Venice, Dutch Republic
"""
_OF_COUNTRIES = """
Afghan, Albanian, Algerian, American, Angolan, Argentine, Argentinian, Armenian, Australian, Austrian, Azerbaijani,
Bahraini, Bangladeshi, Belarusian, Belgian, Bolivian, Bosnian, Brazilian, British, Bulgarian, Burmese, Burundian,
Cambodian, Cameroonian, Canadian, Chadian, Chilean, Chinese, Colombian, Congolese, Costa Rican, Croatian, Cuban,
Cypriot, Czech, Czechoslovak, Danish, Dominican, Dutch, East German, Ecuadorian, Egyptian, English, Eritrean,
Estonian, Ethiopian, Fijian, Filipino, Finnish, French, Gabonese, Gambian, Georgian, German, Ghanaian, Greek,
Guatemalan, Guinean, Guyanese, Haitian, Honduran, Hungarian, Icelandic, Indian, Indonesian, Iranian, Iraqi, Irish,
Israeli, Italian, Ivorian, Jamaican, Japanese, Jordanian, Kazakh, Kenyan, Kosovar, Kuwaiti, Kyrgyz, Laotian, Latvian,
Lebanese, Liberian, Libyan, Lithuanian, Luxembourgish, Macedonian, Malagasy, Malawian, Malaysian, Malian, Maltese,
Mauritian, Mexican, Moldovan, Mongolian, Montenegrin, Moroccan, Mozambican, Namibian, Nepalese, New Zealand,
Nicaraguan, Nigerian, Nigerien, North Korean, Northern Irish, Norwegian, Omani, Pakistani, Palestinian, Panamanian,
Paraguayan, Peruvian, Polish, Portuguese, Prussian, Puerto Rican, Qatari, Romanian, Russian, Rwandan, Salvadoran,
Samoan, Saudi, Saudi Arabian, Scottish, Senegalese, Serbian, Singaporean, Slovak, Slovene, Slovenian, Somali,
South African, South Korean, Soviet, Spanish, Sri Lankan, Sudanese, Swedish, Swiss, Syrian, Taiwanese, Tajik,
Tanzanian, Thai, Togolese, Tongan, Trinidadian, Tunisian, Turkish, Turkmen, Ugandan, Ukrainian, Uruguayan, Uzbek,
Venezuelan, Vietnamese, Welsh, West German, Yemeni, Yugoslav, Zambian, Zimbabwean
"""
COUNTRIES = frozenset(re.sub(r"\s+", " ", name).strip().casefold() for name in _NAMES.split(","))
OF_COUNTRIES = frozenset(re.sub(r"\s+", " ", name).strip().casefold() for name in _OF_COUNTRIES.split(","))
_ARTICLE = re.compile(r"^the\s+", re.I)


def is_country(name: str) -> bool:
    """Whether a name in English is that of a country: France, the United States, USSR."""
    return _ARTICLE.sub("", " ".join(name.split())).casefold() in COUNTRIES


def is_of_country(name: str) -> bool:
    """Whether an English adjective says of which country somebody is: French, South Korean."""
    return " ".join(name.split()).casefold() in OF_COUNTRIES


_PARTS = """
Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Hawaii, Idaho, Illinois,
Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota, Mississippi, Missouri,
Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York State, North Carolina, North Dakota, Ohio,
Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah, Vermont, Virginia,
Washington State, West Virginia, Wisconsin, Wyoming, Alberta, British Columbia, Manitoba, New Brunswick, Newfoundland,
Newfoundland and Labrador, Nova Scotia, Ontario, Prince Edward Island, Quebec, Saskatchewan, New South Wales,
Queensland, South Australia, Tasmania, Victoria, Western Australia, England, Scotland, Wales, Northern Ireland,
Bavaria, Saxony, Thuringia, Hesse, Brandenburg, Lower Saxony, North Rhine-Westphalia, Baden-Württemberg, Catalonia,
Andalusia, Sicily, Sardinia, Tuscany, Lombardy, Normandy, Brittany, Bohemia, Moravia, Siberia, Crimea, Bengal, Kerala,
Punjab, Gujarat, Maharashtra, Tamil Nadu, Karnataka, West Bengal, Uttar Pradesh, Guangdong, Guangxi, Sichuan, Hunan,
Hubei, Henan, Hebei, Shandong, Shanxi, Shaanxi, Jiangsu, Jiangxi, Zhejiang, Anhui, Fujian, Yunnan, Guizhou, Gansu,
Qinghai, Liaoning, Heilongjiang, Hainan, Xinjiang, Tibet, Inner Mongolia, Ningxia
"""
_CHINESE_COUNTRIES = """
中国 中华人民共和国 中华民国 美国 美利坚合众国 英国 大不列颠 联合王国 法国 法兰西 德国 西德 东德 德意志帝国 意大利
西班牙 葡萄牙 荷兰 比利时 卢森堡 瑞士 奥地利 奥匈帝国 波兰 捷克 捷克斯洛伐克 斯洛伐克 匈牙利 罗马尼亚 保加利亚 希腊
土耳其 奥斯曼帝国 塞尔维亚 克罗地亚 斯洛文尼亚 南斯拉夫 阿尔巴尼亚 俄国 俄罗斯 俄罗斯帝国 苏联 乌克兰 白俄罗斯 立陶宛
拉脱维亚 爱沙尼亚 芬兰 瑞典 挪威 丹麦 冰岛 爱尔兰 日本 韩国 南韩 大韩民国 朝鲜 北韩 蒙古 蒙古国 越南 老挝 柬埔寨 泰国
缅甸 马来西亚 新加坡 印度 印度尼西亚 印尼 菲律宾 文莱 东帝汶 巴基斯坦 孟加拉国 斯里兰卡 尼泊尔 不丹 马尔代夫 阿富汗
伊朗 波斯 伊拉克 叙利亚 黎巴嫩 约旦 以色列 巴勒斯坦 沙特阿拉伯 也门 阿曼 阿联酋 卡塔尔 巴林 科威特 哈萨克斯坦
乌兹别克斯坦 土库曼斯坦 吉尔吉斯斯坦 塔吉克斯坦 格鲁吉亚 亚美尼亚 阿塞拜疆 埃及 利比亚 突尼斯 阿尔及利亚 摩洛哥 苏丹
埃塞俄比亚 肯尼亚 坦桑尼亚 乌干达 卢旺达 刚果 尼日利亚 加纳 塞内加尔 喀麦隆 安哥拉 赞比亚 津巴布韦 莫桑比克 南非
马达加斯加 加拿大 墨西哥 古巴 牙买加 海地 巴拿马 哥伦比亚 委内瑞拉 厄瓜多尔 秘鲁 玻利维亚 智利 阿根廷 巴拉圭 乌拉圭
巴西 澳大利亚 澳洲 新西兰 纽西兰 斐济
"""
_CHINESE_PARTS = """
河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 台湾
内蒙古 广西 西藏 宁夏 新疆 加州 加利福尼亚 得克萨斯 德州 佛罗里达 英格兰 苏格兰 威尔士 北爱尔兰 巴伐利亚 魁北克 安大略
"""
PARTS = frozenset(" ".join(name.split()).casefold() for name in _PARTS.split(","))
_SIZES = dict.fromkeys(_CHINESE_COUNTRIES.split(), 2) | dict.fromkeys(_CHINESE_PARTS.split(), 1)
_CHINESE_PART = re.compile(r"[\u4e00-\u9fff]{2,}(?:省|自治区)")


def region_size(name: str) -> int:
    """2 for a country, 1 for a state or province, 0 for any other name."""
    folded = _ARTICLE.sub("", " ".join(name.split())).casefold()
    if folded in PARTS or _CHINESE_PART.fullmatch(folded):
        return 1
    return 2 if folded in COUNTRIES else _SIZES.get(folded.removesuffix("州"), _SIZES.get(folded, 0))


_PEOPLES = """
American: united states, US: united states, U.S.: united states, USA: united states, America: united states,
U.S.A.: united states, United States of America: united states, British: united kingdom, UK: united kingdom,
U.K.: united kingdom, Britain: united kingdom, Great Britain: united kingdom, English: england, Scottish: scotland,
Welsh: wales, Irish: ireland, Republic of Ireland: ireland, French: france, German: germany, West Germany: germany,
Italian: italy, Spanish: spain, Portuguese: portugal, Dutch: netherlands, Belgian: belgium, Swiss: switzerland,
Austrian: austria, Polish: poland, Czech: czech republic, Czechia: czech republic, Slovak: slovakia,
Hungarian: hungary, Romanian: romania, Bulgarian: bulgaria, Greek: greece, Turkish: turkey, Serbian: serbia,
Croatian: croatia, Slovenian: slovenia, Bosnian: bosnia, Bosnia and Herzegovina: bosnia, Albanian: albania,
Russian: russia, Soviet: soviet union, USSR: soviet union, Ukrainian: ukraine, Belarusian: belarus,
Lithuanian: lithuania, Latvian: latvia, Estonian: estonia, Finnish: finland, Swedish: sweden, Norwegian: norway,
Danish: denmark, Icelandic: iceland, Japanese: japan, Chinese: china, People's Republic of China: china, PRC: china,
Taiwanese: taiwan, Korean: south korea, South Korean: south korea, North Korean: north korea, Vietnamese: vietnam,
Thai: thailand, Filipino: philippines, Indonesian: indonesia, Malaysian: malaysia, Singaporean: singapore,
Indian: india, Pakistani: pakistan, Bangladeshi: bangladesh, Nepalese: nepal, Sri Lankan: sri lanka, Iranian: iran,
Persian: iran, Iraqi: iraq, Israeli: israel, Lebanese: lebanon, Syrian: syria, Egyptian: egypt, Moroccan: morocco,
Algerian: algeria, Tunisian: tunisia, Nigerian: nigeria, Ghanaian: ghana, Kenyan: kenya, South African: south africa,
Ethiopian: ethiopia, Canadian: canada, Mexican: mexico, Cuban: cuba, Jamaican: jamaica, Brazilian: brazil,
Argentine: argentina, Argentinian: argentina, Chilean: chile, Peruvian: peru, Colombian: colombia,
Venezuelan: venezuela, Uruguayan: uruguay, Bolivian: bolivia, Australian: australia, New Zealander: new zealand,
Slovene: slovenia, Luxembourgish: luxembourg, Cypriot: cyprus,
Maltese: malta, Armenian: armenia, Azerbaijani: azerbaijan, Kazakh: kazakhstan, Uzbek: uzbekistan, Mongolian: mongolia,
Moldovan: moldova, Montenegrin: montenegro, Cambodian: cambodia, Burmese: burma, Myanmar: burma, Saudi: saudi arabia,
Saudi Arabian: saudi arabia, Jordanian: jordan, Kuwaiti: kuwait, Libyan: libya, Sudanese: sudan, Senegalese: senegal,
Ugandan: uganda, Tanzanian: tanzania, Zimbabwean: zimbabwe, Zambian: zambia, Costa Rican: costa rica,
Ecuadorian: ecuador, Paraguayan: paraguay, Panamanian: panama, Guatemalan: guatemala, Honduran: honduras,
Salvadoran: el salvador, Nicaraguan: nicaragua, Puerto Rican: puerto rico, Haitian: haiti, Afghan: afghanistan,
Yugoslav: yugoslavia, Czechoslovak: czechoslovakia, East German: east germany, Malian: mali, Cape Verdean: cape verde
"""
PEOPLES = {
    people.casefold(): country for people, country in (" ".join(row.split()).split(": ") for row in _PEOPLES.split(","))
}


def country_of(name: str) -> str:
    """The country that a name or a nationality means, folded: united states for American and U.S."""
    folded = _ARTICLE.sub("", " ".join(name.split())).casefold()
    return PEOPLES.get(folded, folded)
