"""Window batch -> EncoderOutput: any transformers encoder behind one small interface.

The catalogue and what finds a folder are plain; Encoder and what else imports torch is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from factpin.encoders.catalogue import CATALOGUE
from factpin.encoders.fetch import fetch
from factpin.encoders.resolve import home, resolve

if TYPE_CHECKING:
    from factpin.encoders.encoder import Encoder
    from factpin.encoders.output import EncoderOutput
    from factpin.encoders.small import small_electra, small_encoder

__all__ = ["CATALOGUE", "Encoder", "EncoderOutput", "fetch", "home", "resolve", "small_electra", "small_encoder"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from factpin.encoders import encoder, output, small  # noqa: PLC0415  (torch)

        return next(getattr(module, name) for module in (encoder, output, small) if name in vars(module))
    raise AttributeError(f"module 'factpin.encoders' has no attribute {name!r}")
