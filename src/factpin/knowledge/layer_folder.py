"""A layer over a store beside the encoder that learned with it.

config.json, model.safetensors, tokenizer.json    the encoder, as transformers loads it
knowledge.json                                    the sizes of the layer, and the digest of the store
knowledge.safetensors                             its weights, the vectors of its entities and their names
entities.txt                                      the keys of its entities in the store, in the order of the rows
"""

from pathlib import Path

import orjson
import safetensors.torch

from factpin.encoders import Encoder
from factpin.errors import BadModel
from factpin.files import open_bytes, read_text, write_bytes
from factpin.knowledge.mentions import FIRST
from factpin.knowledge.store_layer import StoreLayer, StoreLayerConfig
from factpin.tokens import Tokenizer

LAYER, WEIGHTS, KEYS = "knowledge.json", "knowledge.safetensors", "entities.txt"


def save_layer(folder: Path, layer: StoreLayer) -> None:
    """Write the layer beside its encoder."""
    layer.trim()
    weights = {name: w.detach().cpu().contiguous() for name, w in layer.state_dict().items()}
    with write_bytes(folder / WEIGHTS) as stream:
        stream.write(safetensors.torch.save(weights))
    with write_bytes(folder / KEYS) as stream:
        stream.write("".join(f"{key}\n" for key in layer.keys).encode())
    with write_bytes(folder / LAYER) as stream:
        stream.write(orjson.dumps(layer.config.to_json(), option=orjson.OPT_INDENT_2))


def has_layer(folder: Path) -> bool:
    """Whether an encoder's folder has a layer over a store."""
    return (folder / LAYER).is_file()


def load_layer(folder: Path, encoder: Encoder, tokenizer: Tokenizer) -> StoreLayer:
    """Read the layer, and put it between the layers of its encoder."""
    try:
        with open_bytes(folder / LAYER) as stream:
            config = StoreLayerConfig.from_json(orjson.loads(stream.read()))
        layer = StoreLayer(encoder.width, config, tokenizer)
        with open_bytes(folder / WEIGHTS) as stream:
            layer.load_state_dict(safetensors.torch.load(stream.read()))
        layer.keys = tuple(read_text(folder / KEYS).split()) if (folder / KEYS).exists() else ()
        if layer.keys and len(layer.keys) != config.rows - FIRST:
            raise ValueError(f"{KEYS} has {len(layer.keys):,} entities; expected {config.rows - FIRST:,}")
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, safetensors.SafetensorError) as error:
        raise BadModel(f"{folder}: its layer over a store cannot be read ({str(error)[:200]}). Write it again: "
                       f"factpin pretrain.") from None  # fmt: skip
    encoder.put_between(layer, config.after)
    return layer
