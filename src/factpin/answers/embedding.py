"""Texts to vectors, with a gradient: what a retriever learns by. The mean of the token vectors, of unit length.

Without a gradient this is what `factpin index --vectors FOLDER` computes, so a trained encoder is one the store takes.
The published REALM has a projection of 128 with LayerNorm, and DPR the vector of [CLS]; means of pretrained encoders
retrieve well from the beginning, which is what training by answers alone needs.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from factpin.encoders import Encoder
from factpin.tokens import Tokenizer

BATCH = 32
SHARP = 20.0  # what cosines are multiplied with before a softmax over passages


class TextEmbedder(nn.Module):
    """An encoder whose vectors are the normalised means of its token vectors."""

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer, longest: int = 256) -> None:
        super().__init__()
        self.encoder, self.tokenizer = encoder, tokenizer
        self.longest = min(longest, encoder.max_length or longest)

    def forward(self, texts: Sequence[str]) -> Tensor:
        """(B, D), each of unit length."""
        most = self.longest - self.tokenizer.frame_size
        framed = [self.encoder.frame(pieces.ids[:most])[0] for pieces in self.tokenizer.encode_batch(list(texts))]
        ids, mask = self.encoder.batch(framed)
        hidden = self.encoder(ids, mask).hidden.float().masked_fill(~mask[..., None], 0.0)  # (B, N, D)
        return normalize(hidden.sum(dim=1) / mask.sum(dim=1, keepdim=True), dim=-1)

    @torch.no_grad()
    def embed(self, texts: Sequence[str]) -> Tensor:
        """The vectors of many texts (N, D), without a gradient."""
        was = self.training
        self.eval()
        parts = [self(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        self.train(was)
        return torch.cat(parts) if parts else torch.zeros(0, self.encoder.width)
