"""Whether half precision is worth asking for here. A processor without bfloat16 emulates it, and is slower for it."""

import torch

SLOWER = (
    "bf16: this processor has no instructions for it and emulates it. Float32 is faster here: leave --bf16 out, or "
    "give --no-bf16 where a recipe asks for it."
)


def emulates_bf16() -> bool:
    """A run in bfloat16 on this machine would take longer than one in float32."""
    if torch.cuda.is_available():
        return False
    has = torch.cpu.get_capabilities()
    return has["architecture"] == "x86_64" and not (has["avx512_bf16"] or has["amx_bf16"])
