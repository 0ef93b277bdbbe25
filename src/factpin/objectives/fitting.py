"""Which network rows ask for: their positions, and whether there is a decoder."""

from dataclasses import replace

from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.objectives.objective import Objective


def fitted(config: NetworkConfig, *objectives: Objective) -> NetworkConfig:
    """The config with the positions and the decoder that these rows need together."""
    kinds = sorted({objective.positions for objective in objectives})
    if len(kinds) != 1:
        raise BadInput(f"Rows that share a network share its positions, got {' and '.join(kinds)}. Take them apart.")
    said = any(loss.stream == "decoder" for objective in objectives for loss in objective.losses)
    layers = config.decoder_layers or config.layers
    return replace(config, positions=kinds[0], decoder_layers=layers if said else 0)
