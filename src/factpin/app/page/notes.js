// Notes: what the server writes in English about how a text was read, in the language of the page.

import { currentLanguage } from "./words.js";

const FINDS = { facts: "事实", events: "事件", mentions: "实体", entities: "实体" };
const REASONS = {
  "that the words of the sentence rule out": "句子的措辞不支持",
  "of somebody or something that no name was found for": "所指的人或事物没有找到名称",
  "for a better one, where there can be one alone": "同一关系只能有一个，已保留分数更高的",
  "between types that the relation does not join": "实体类型与关系不符",
  "with an argument that is not one name of its own": "主体或客体不是独立的名称",
  "that other mentions of the same names, closer to each other, state": "同样名称的更近的提及已说明",
};

/** Patterns of notes, each with what makes the Chinese sentence of the groups. */
const CHINESE = [
  [/^facts are looked for inside one (sentence|window) at a time$/, (reach) => `每次只在一个${reach === "sentence" ? "句子" : "窗口"}之内寻找事实`],
  [/^facts are looked for in the whole document, between the entities that it was given$/, () => "在整篇文档的已有实体之间寻找事实"],
  [/^([\d,]+) facts? left out (.+)$/, (n, why) => `略去 ${n} 条事实：${REASONS[why] ?? why}`],
  [/^facts dropped because their two ends are one entity: ([\d,]+)$/, (n) => `略去 ${n} 条事实：主体和客体是同一实体`],
  [/^([\d,]+) facts? (?:and|or) events? that (?:is|are) less likely than ([\d.]+) (?:is|are) hidden$/, (n, least) => `隐藏了 ${n} 条分数低于 ${least} 的事实和事件`],
  [/^([\d,]+) mentions? that (?:is|are) (?:less likely than ([\d.]+)|no name, date or number) (?:is|are) hidden$/, (n, least) => `隐藏了 ${n} 个${least ? `分数低于 ${least}` : "不是名称、日期或数字"}的提及`],
  [/^(facts|events|mentions|entities) were not looked for(?: in (.+?))?: no such model reads the language there$/, (what, where) => `未寻找${FINDS[what]}${where ? `（字符 ${where}）` : ""}：没有这样的模型能读这种语言`],
  [/^facts (may be wrong or missing|were not looked for)(?: in (.+?))?: (.+)$/, (state, where, why) => `${state === "were not looked for" ? "未寻找事实" : "事实可能有误或不全"}${where ? `（字符 ${where}）` : ""}：${why}`],
  [/^pairs of entities that are too far apart to be read together, not asked: ([\d,]+)$/, (n) => `${n} 对实体相距太远，不能一起读，未判断`],
  [/^entities of types that the model does not know, not asked: (\d+) of (\d+) \((.+)\)$/, (n, all, which) => `${all} 个实体中有 ${n} 个的类型模型不认识，未判断（${which}）`],
  [/^more spans or links scored above the threshold than are joined at once: the best were joined$/, () => "超过阈值的片段或连接太多，只连接了分数最高的"],
  [/^mentions were grouped into entities by rules and a model, over the whole document$/, () => "在整篇文档中用规则和模型把提及归为实体"],
];

/** A note in the language of the page; as it is if there are no words for it. */
export function noteInWords(note) {
  return currentLanguage() === "zh" ? inChinese(note) ?? note : note;
}

/** Null where no pattern fits. */
export function inChinese(note) {
  for (const [pattern, words] of CHINESE) {
    const found = pattern.exec(note);
    if (found) return words(...found.slice(1));
  }
  return null;
}
