"""Faults: sound views made to leak, each in the way of a mistake that is easily made, some of them in public code."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from factpin.layers.masks import FAR, Ints, MaskSpec, full, later, order, prefix
from factpin.objectives import Stream, View
from factpin.objectives.tape import MARK, NOISE, Tape, mark, tape
from factpin.objectives.view import stream
from proofs.world import VOCABULARY

Fault = Callable[[View], View]


def swap(view: View, name: str, other: Stream) -> View:
    """The view with another stream of this name."""
    return replace(view, streams={**view.streams, name: other})


def seeing(view: View, name: str, sees: Mapping[str, MaskSpec]) -> View:
    """The view with other masks in one stream."""
    one = view.streams[name]
    return swap(view, name, replace(one, sees={**one.sees, **sees}))


def called_noise(view: View, name: str, cells: Ints, places: Ints) -> View:
    """The view with these pieces in these cells of a stream, as if chance had drawn them."""
    row = view.streams[name].tape
    ids, shows, free = row.ids.copy(), row.shows.copy(), row.free.copy()
    ids[cells], shows[cells], free[cells] = view.text[places], NOISE, False
    return swap(view, name, replace(view.streams[name], tape=Tape(ids, shows, free)))


def bert_pieces_called_noise(view: View) -> View:
    """Nothing is hidden: every piece that is asked for is in its own cell."""
    asked = view.streams["content"].answers
    return called_noise(view, "content", np.flatnonzero(asked >= 0), asked[asked >= 0])


def mass_pieces_called_noise(view: View) -> View:
    asked = view.streams["decoder"].answers
    return called_noise(view, "encoder", asked + 1, asked)


def gpt_that_sees_everything(view: View) -> View:
    return seeing(view, "content", {"content": full(len(view.streams["content"]))})


def gpt_without_shift(view: View) -> View:
    content = view.streams["content"]
    return swap(view, "content", replace(content, answers=np.arange(len(content))))


def mpnet_query_that_sees_itself(view: View) -> View:
    b = len(view.streams["query"])
    a = len(view.streams["content"]) - 2 * b
    know, nth = 1 + np.arange(b), np.arange(1, b + 1)
    pieces = np.concatenate([np.zeros(a, np.int64), nth, np.full(b, FAR)])
    masks = np.concatenate([np.full(a + b, -FAR), nth])
    return seeing(view, "query", {"content": order(know, pieces) | later(know - 1, masks)})


def mpnet_masks_that_see_targets(view: View) -> View:
    content, b = view.streams["content"], len(view.streams["query"])
    closed = np.where(np.arange(len(content)) >= len(content) - b, 0, FAR)
    opened = content.sees["content"] | order(-closed, np.zeros(len(content), np.int64))
    return seeing(view, "content", {"content": opened})


def xlnet_context_that_sees_targets(view: View) -> View:
    return seeing(view, "content", {"content": full(len(view.streams["content"]))})


def xlnet_with_open_special_columns(view: View) -> View:
    """Only target columns are blocked, as in a public collator: special tokens see targets, and everybody sees them."""
    content, query = view.streams["content"], view.streams["query"]
    closed = np.where(content.tape.shows >= 0, FAR, 0)  # 0: a special token
    opened = content.sees["content"] | order(np.zeros(len(content), np.int64), closed)
    seen = query.sees["content"] | order(np.zeros(len(query), np.int64), closed)
    return seeing(seeing(view, "content", {"content": opened}), "query", {"content": seen})


def xlnet_memory_of_the_present(view: View) -> View:
    """The memory holds the last pieces of the window it is used for."""
    kept = view.streams["memory"]
    places = view.streams["query"].answers[: len(kept)]
    return swap(view, "memory", replace(kept, tape=Tape(view.text[places], places, np.zeros(len(places), np.bool_))))


def mass_masked_one_too_late(view: View) -> View:
    """The encoder hides the right number of pieces, one place to the right of those asked for."""
    asked = view.streams["decoder"].answers
    row = mark(VOCABULARY.cls) + tape(view.text) + mark(VOCABULARY.sep)
    ids, shows = row.ids.copy(), row.shows.copy()
    late = np.minimum(asked + 1, len(view.text) - 1) + 1
    ids[late], shows[late] = VOCABULARY.mask, MARK
    return swap(view, "encoder", replace(view.streams["encoder"], tape=Tape(ids, shows, row.free)))


def t5_source_that_keeps_a_blank(view: View) -> View:
    source = mark(VOCABULARY.sentinels[0]) + tape(view.text[:48]) + mark(VOCABULARY.end)
    decoder = view.streams["decoder"]
    seen = {**decoder.sees, "encoder": full(len(decoder), len(source))}
    reading = stream(source, {"encoder": full(len(source))})
    return replace(view, streams={"encoder": reading, "decoder": replace(decoder, sees=seen)})


def glm_blanks_that_see_each_other(view: View) -> View:
    n = len(view.streams["content"])
    return seeing(view, "content", {"content": prefix(n, n)})


def decoder_that_sees_one_ahead(view: View) -> View:
    at = np.arange(len(view.streams["decoder"]))
    return seeing(view, "decoder", {"decoder": order(at + 1, at)})


FAULTS: tuple[tuple[str, Fault], ...] = (
    ("bart", decoder_that_sees_one_ahead),
    ("bert", bert_pieces_called_noise),
    ("glm_document", glm_blanks_that_see_each_other),
    ("glm_token", glm_blanks_that_see_each_other),
    ("gpt", gpt_that_sees_everything),
    ("gpt", gpt_without_shift),
    ("mass", decoder_that_sees_one_ahead),
    ("mass", mass_masked_one_too_late),
    ("mass", mass_pieces_called_noise),
    ("mpnet", mpnet_masks_that_see_targets),
    ("mpnet", mpnet_query_that_sees_itself),
    ("palm_continue", decoder_that_sees_one_ahead),
    ("pegasus", decoder_that_sees_one_ahead),
    ("t5", decoder_that_sees_one_ahead),
    ("t5", t5_source_that_keeps_a_blank),
    ("transformer", decoder_that_sees_one_ahead),
    ("transformer_xl", gpt_without_shift),
    ("xlnet", xlnet_context_that_sees_targets),
    ("xlnet", xlnet_memory_of_the_present),
    ("xlnet", xlnet_with_open_special_columns),
)
