"""The notes of an answer, in the language of its question."""

_SAID = {
    "none": ("No fact or passage of the store answers this.", "库中没有事实或段落能回答这个问题。"),
    "unread": ("These passages may help; no reader was given that could read an answer from them.",
               "以下段落可能有用；没有阅读模型，无法从中读出答案。"),
    "weak": ("The best answer has the score {score}, below {least}.", "最佳答案的分数为{score}，低于{least}。"),
    "conflict": ("The texts contradict each other: {names}.", "文本互相矛盾：{names}。"),
    "ambiguous": ("{count} entities bear the name {name}.",
                  "有{count}个实体名叫{name}。"),
    "denied": ("A text denies it: {head} – {relation} – {tail} ({uri}).",
               "有文本否认：{head}–{relation}–{tail}（{uri}）。"),
    "superseded": ("No longer or not yet: {head} – {relation} – {tail} ({uri}).",
                   "已经或尚未生效：{head}–{relation}–{tail}（{uri}）。"),
    "unconfirmed": ("Only reported, hedged or conditional: {head} – {relation} – {tail} ({uri}).",
                    "仅为传闻、推测或假设：{head}–{relation}–{tail}（{uri}）。"),
    "rejected": ("Rejected by hand: {head} – {relation} – {tail} ({uri}).",
                 "已被人工否决：{head}–{relation}–{tail}（{uri}）。"),
    "partly": ("{count} of {all} documents were not read whole: what is missing may be in them.",
               "{all}篇文档中有{count}篇没有读完：缺少的内容可能在其中。"),
    "yes_no": ("This asks for yes or no, which facts alone do not tell.", "这是是非问题，仅凭事实无法回答。"),
    "more": ("{count} more.", "另有{count}个。"),
}  # fmt: skip


def say(what: str, language: str, **values: object) -> str:
    """A note in English or Chinese."""
    return _SAID[what][language == "zh"].format(**values)
