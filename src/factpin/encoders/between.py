"""Change the token vectors between two layers of an encoder.

    with between(encoder.model, 2, change):
        encoder(ids, mask)          # change(H) replaces the output H (B, N, D) of the second layer

Outside the block the encoder is as it was. A change that returns its argument leaves every bit as it is. Some layers of
transformers return a tensor and some a tuple that starts with it; both work.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel

from factpin.errors import BadInput, BadModel
from factpin.words import count

Change = Callable[[Tensor], Tensor]


def layers_of(model: PreTrainedModel) -> nn.ModuleList:
    """The layers of a model, in order."""
    count = int(model.config.num_hidden_layers)
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise BadModel(
        f"The layers of this {model.config.model_type} cannot be told apart, so nothing can be put between them. Use "
        f"an encoder with {count} layers of its own, such as BERT."
    )


@contextmanager
def between(model: PreTrainedModel, after: int, change: Change) -> Iterator[None]:
    """Change what layer number `after` (from 1) gives to the next one."""
    layers = layers_of(model)
    if not 1 <= after <= len(layers):
        raise BadInput(
            f"This encoder has {count(len(layers), 'layer')}; expected a layer from 1 to {len(layers)}, got {after}."
        )

    def replaced(_: nn.Module, __: Any, output: Any) -> Any:
        return (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)

    handle = layers[after - 1].register_forward_hook(replaced)
    try:
        yield
    finally:
        handle.remove()
