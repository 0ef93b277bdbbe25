"""The notes of an answer, in the language of its question."""

_NOTES = {
    "none": ("No fact or passage in the store answers this.", "库中没有事实或段落能回答这个问题。"),
    "unread": ("These passages may help. To answer from them, pass a reader (--reader).",
               "以下段落可能有帮助；没有阅读模型，无法从中提取答案。"),
    "read": ("These passages may help, but no answer was found in them.",
             "以下段落可能有帮助，但未能从中找到答案。"),
    "weak": ("Nothing is sure enough. The best candidate has a score of {score}; {from_where} needs at least {least}.",
             "没有足够可靠的答案。最佳候选的分数为{score}，{from_where}至少要有{least}。"),
    "fact": ("an answer from facts", "来自事实的答案"),
    "text": ("an answer read in a passage", "读自段落的答案"),
    "given": ("an answer (--min-score)", "按 --min-score，答案"),
    "unlikely": ("Facts or passages suggest an answer, but with a score below {worth}.",
                 "事实或段落中有可能的答案，但分数低于{worth}。"),
    "unsure": ("The facts behind this are uncertain ({score}): read the citation.",
               "所依据的事实不够确定（{score}），请核对引文。"),
    "conflict": ("The texts contradict each other: {names}.", "文本互相矛盾：{names}。"),
    "ambiguous": ("{count} entities have the name {name}.",
                  "有{count}个实体名叫{name}。"),
    "denied": ("A text denies it: {head} – {relation} – {tail} ({uri}).",
               "有文本否认：{head}–{relation}–{tail}（{uri}）。"),
    "superseded": ("No longer or not yet: {head} – {relation} – {tail} ({uri}).",
                   "已失效或尚未生效：{head}–{relation}–{tail}（{uri}）。"),
    "unconfirmed": ("Only reported, hedged or conditional: {head} – {relation} – {tail} ({uri}).",
                    "仅为传闻、推测或假设：{head}–{relation}–{tail}（{uri}）。"),
    "rejected": ("Rejected by hand: {head} – {relation} – {tail} ({uri}).",
                 "已被人工否决：{head}–{relation}–{tail}（{uri}）。"),
    "partly": ("{count} of {all} documents were only partly read; the answer may be in the rest of them.",
               "{all}篇文档中有{count}篇只读了一部分，答案可能在未读的内容里。"),
    "yes_no": ("No fact says whether this is so.", "没有事实说明是否如此。"),
    "memory_yes_no": ("A fact memory answers with an entity, never with yes or no. Ask who, what, when or where, or "
                      "use --mode facts.",
                      "事实记忆只回答实体，不回答是或否。请改问谁、什么、何时或哪里，或改用 --mode facts。"),
    "more": ("{count} more.", "另有{count}个。"),
}  # fmt: skip


def say(what: str, language: str, **values: object) -> str:
    """Word a note in English or Chinese."""
    return _NOTES[what][language == "zh"].format(**values)
