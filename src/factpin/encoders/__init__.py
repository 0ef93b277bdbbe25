"""Window batch -> EncoderOutput: any transformers encoder behind one small interface."""

from factpin.encoders.catalogue import CATALOGUE
from factpin.encoders.encoder import Encoder
from factpin.encoders.fetch import fetch
from factpin.encoders.output import EncoderOutput
from factpin.encoders.resolve import home, resolve
from factpin.encoders.small import small_electra, small_encoder

__all__ = ["CATALOGUE", "Encoder", "EncoderOutput", "fetch", "home", "resolve", "small_electra", "small_encoder"]
