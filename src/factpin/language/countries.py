"""Names of countries in English, present and past, with the forms that texts use. They are compared without "the"."""

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
