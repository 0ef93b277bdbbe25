// Examples: texts to try. The first of the interface's language is read when the page is opened.

export const EXAMPLES = [
  {
    id: "curie",
    language: "en",
    name: "Marie Curie",
    text: "Marie Curie was a Polish and French physicist and chemist. She was born in Warsaw, Poland, on 7 November 1867, and studied at the University of Paris. In 1895 she married Pierre Curie, who was born in Paris. Their daughter Irène Joliot-Curie was born in Paris in 1897 and became a chemist as well. Marie Curie never studied at Harvard University. She died in Passy, France, on 4 July 1934.",
  },
  {
    id: "works",
    language: "zh",
    name: "歌曲、小说与电影",
    text: "周杰伦没有演唱过《红豆》，这首歌的歌手是王菲。《晴天》是周杰伦演唱的歌曲，由他本人作曲，收录在专辑《叶惠美》中。\n《三体》是刘慈欣创作的长篇科幻小说，2008年由重庆出版社出版。电影《流浪地球》由郭帆执导，吴京、屈楚萧主演，2019年2月5日上映。\n华为技术有限公司成立于1987年，创始人是任正非。钱钟书毕业于清华大学，妻子是杨绛。",
  },
  {
    id: "computing",
    language: "en",
    name: "Ada Lovelace, Alan Turing",
    text: "Ada Lovelace was born in London on 10 December 1815, the only legitimate child of the poet Lord Byron and Annabella Milbanke. In 1833 she met Charles Babbage, who was working on the Analytical Engine, and in 1843 she published her notes on it. Alan Turing quoted her in his paper \"Computing Machinery and Intelligence\", which appeared in the journal Mind in October 1950.\n\nTuring studied at King's College, Cambridge, and received his doctorate from Princeton University in 1938. During the Second World War he worked at Bletchley Park in Buckinghamshire. The Turing Award, first given in 1966 by the Association for Computing Machinery, is named after him.",
  },
  {
    id: "games",
    language: "zh",
    name: "北京冬奥会",
    text: "2022年2月8日上午，北京冬奥会自由式滑雪女子大跳台决赛在首钢滑雪大跳台举行。中国选手谷爱凌以188.25分获得金牌，法国选手泰丝·勒德获得银牌，瑞士选手玛蒂尔德·格雷莫德获得铜牌。\n谷爱凌出生于美国加利福尼亚州旧金山，中文流利，后来就读于斯坦福大学。国际奥委会主席巴赫当天也到了现场。",
  },
];
