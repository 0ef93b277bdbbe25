// Colours: one hue for each type. Lightness and chroma are set by the theme, so every hue has the same contrast.

const HUES = {
  person: 25, organization: 255, location: 150, date: 300, number: 205, work: 60, title: 340, other: 110,
  人物: 25, 机构: 255, 组织: 255, 企业: 255, 公司: 255, 学校: 255, 地点: 150, 国家: 150, 城市: 150, 时间: 300, 日期: 300, date_time: 300,
  数字: 205, 作品: 60, 影视作品: 60, 歌曲: 60, 图书作品: 60, 职务: 340, 其他: 110,
  per: 25, org: 255, loc: 150, gpe: 150, time: 300, num: 205, misc: 110, name: 25, company: 255, government: 255, address: 150, scene: 150,
  position: 340, book: 60, movie: 60, game: 60,
};

/** The hue of a type, from 0 to 359: by table, otherwise by its letters, always the same. */
export function hueOf(type) {
  const known = HUES[type] ?? HUES[type?.toLowerCase()];
  if (known !== undefined) return known;
  let sum = 7;
  for (const char of type ?? "") sum = (sum * 31 + char.codePointAt(0)) % 3600;
  return (sum % 24) * 15;
}
