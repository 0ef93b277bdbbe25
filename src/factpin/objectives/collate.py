"""Views become a batch: each stream is padded on the right to its longest; nobody sees padding.

    ids, segments, labels, real      (B, n)         pad, 0, NO_LOSS, False in padding
    positions                        (B, n, tables)
    sees[other]                      (B, n, m)      True: may be seen

A padded row sees one cell, itself where its stream sees itself and the first cell elsewhere: attention over nothing is
not a number, and would spoil the gradient of the whole batch.

`pack` puts short views into one, side by side and blind to each other; `one_stream` joins content and query cells for
networks that know one stream only.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from factpin.encoders.own.batch import Batch, Block
from factpin.errors import BadInput
from factpin.layers.masks import Bools, Ints, MaskSpec
from factpin.objectives.tape import Tape, concatenate
from factpin.objectives.view import NO_LOSS, Stream, View


def collate(views: Sequence[View], pad: int, *, task: int = 0) -> Batch:
    """Views of one objective, or of several with the same streams."""
    names = _streams(views)
    lengths = {name: max(len(view.streams[name]) for view in views) for name in names}
    spans = [np.column_stack([np.full(len(view.spans), b), view.spans]) for b, view in enumerate(views)]
    return Batch(
        {name: _block(views, name, lengths, pad) for name in names},
        np.array([view.pair for view in views], np.int64),
        np.concatenate(spans),
        task,
    )


def _block(views: Sequence[View], name: str, lengths: Mapping[str, int], pad: int) -> Block:
    streams, n = [view.streams[name] for view in views], lengths[name]
    real = np.arange(n) < np.array([len(one) for one in streams])[:, None]
    sees = {
        seen: np.stack([_seen(one.sees[seen], n, lengths[seen], diagonal=seen == name) for one in streams])
        for seen in streams[0].sees
    }
    return Block(
        np.stack([_padded(one.tape.ids, n, pad) for one in streams]),
        np.stack([_padded(one.positions, n, 0) for one in streams]),
        np.stack([_padded(one.segments, n, 0) for one in streams]),
        np.stack([_padded(view.labels(name), n, NO_LOSS) for view in views]),
        real,
        sees,
    )


def _padded(column: Ints, n: int, value: int) -> Ints:
    long = np.full((n, *column.shape[1:]), value, np.int64)
    long[: len(column)] = column
    return long


def _seen(spec: MaskSpec, rows: int, columns: int, *, diagonal: bool) -> Bools:
    """(rows, columns) with one cell for each padded row, if there is any."""
    allowed = np.zeros((rows, columns), np.bool_)
    allowed[: spec.rows, : spec.columns] = spec.dense()
    padding = np.arange(spec.rows, rows)
    if columns:
        allowed[padding, padding if diagonal else 0] = True
    return allowed


def pack(views: Sequence[View]) -> View:
    """Several views as one: no cell sees a cell of another view, positions begin anew with each."""
    names = _streams(views)
    if any(view.pair != NO_LOSS for view in views):
        raise BadInput("Views with a pair label cannot be packed: the label belongs to one first cell. Collate them.")
    places = np.cumsum([0, *(len(view.text) for view in views)])
    starts = {name: np.cumsum([0, *(len(view.streams[name]) for view in views)]) for name in names}
    spans = [view.spans + start for view, start in zip(views, starts.get("content", places), strict=False)]
    streams = {}
    for name in names:
        parts = [view.streams[name] for view in views]
        sees = {seen: _side_by_side(parts, seen, starts[name], starts[seen]) for seen in parts[0].sees}
        streams[name] = Stream(
            concatenate([_moved(one.tape, int(at)) for one, at in zip(parts, places, strict=False)]),
            sees,
            np.concatenate([np.where(o.answers >= 0, o.answers + a, -1) for o, a in zip(parts, places, strict=False)]),
            np.concatenate([one.positions for one in parts]),
            np.concatenate([one.segments for one in parts]),
        )
    marks = frozenset[int]().union(*(view.marks for view in views))
    return View(np.concatenate([view.text for view in views]), streams, spans=np.concatenate(spans), marks=marks)


def one_stream(view: View) -> View:
    """Content and query cells in one row for an encoder with absolute positions; nobody sees a query cell.

    Equal to two streams with the same weights, since keys and values of query cells are never read.
    """
    if set(view.streams) - {"memory"} != {"content", "query"} or len(view.streams.get("memory", ())):
        raise BadInput(
            f"one_stream joins content and query, without memory; this view has {', '.join(view.streams)}. "
            "Views of one stream are ready as they are."
        )
    content, query = view.streams["content"], view.streams["query"]
    n = len(content) + len(query)
    above = content.sees["content"].within(n, n)
    below = query.sees["content"].within(n, n, top=len(content))
    joined = Stream(
        content.tape + query.tape,
        {"content": above | below},
        np.concatenate([content.answers, query.answers]),
        np.concatenate([content.positions, query.positions]),
        np.concatenate([content.segments, query.segments]),
    )
    return View(view.text, {"content": joined}, pair=view.pair, spans=view.spans, marks=view.marks)


def _streams(views: Sequence[View]) -> list[str]:
    names = {tuple(view.streams) for view in views}
    if len(names) != 1:
        raise BadInput(f"A batch needs views with the same streams, got {sorted(names)}. Draw one objective a batch.")
    return list(names.pop())


def _moved(tape: Tape, places: int) -> Tape:
    return Tape(tape.ids, np.where(tape.shows >= 0, tape.shows + places, tape.shows), tape.free)


def _side_by_side(parts: Sequence[Stream], seen: str, tops: Ints, lefts: Ints) -> MaskSpec:
    specs = [
        one.sees[seen].within(int(tops[-1]), int(lefts[-1]), top=int(top), left=int(left))
        for one, top, left in zip(parts, tops, lefts, strict=False)
    ]
    whole = specs[0]
    for spec in specs[1:]:
        whole = whole | spec
    return whole
