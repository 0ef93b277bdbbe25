"""EncoderDecoder: any encoder-decoder of transformers behind two functions. T5, BART, PEGASUS, Marian, and what
`factpin pretrain` writes in their layouts.

    states, mask = generator.encode(prompts)                 (R, m, D), (R, m)      read once for all that is said
    generator.log_p(states, mask, said)                      (R, T, V)              log p of the piece after each prefix

`said` (R, T) are the pieces of answers; position t is predicted from those before t.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForSeq2SeqLM, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from factpin.encoders.encoder import refuse_foreign_attention
from factpin.encoders.quiet import quiet
from factpin.encoders.resolve import resolve
from factpin.errors import BadModel
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.words import count


class EncoderDecoder(nn.Module):
    """An encoder-decoder with its tokenizer."""

    def __init__(self, model: PreTrainedModel, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.model, self.tokenizer = model, tokenizer
        start, end = model.config.decoder_start_token_id, model.config.eos_token_id
        self.start = int(start if start is not None else tokenizer.pad_id)
        self.end = int(end[0] if isinstance(end, list) else end if end is not None else tokenizer.suffix[-1])

    @classmethod
    def load(cls, source: str | Path) -> "EncoderDecoder":
        """A generator from a folder."""
        folder = resolve(source)
        refuse_foreign_attention(folder)
        with quiet():
            try:
                model, report = AutoModelForSeq2SeqLM.from_pretrained(
                    folder,
                    dtype=torch.float32,
                    trust_remote_code=False,
                    local_files_only=True,
                    output_loading_info=True,
                )
            except (OSError, ValueError, KeyError, RuntimeError) as error:
                said = str(error).strip().split("\n")[0][:200]
                raise BadModel(
                    f"{folder}: cannot be loaded as a generator ({said}). Expected the folder of an encoder-decoder "
                    f"such as T5 or BART, or one that `factpin pretrain` wrote with the objective t5, bart or pegasus."
                ) from None
        missing = [
            name for name in report["missing_keys"] if not name.endswith(("embed_tokens.weight", "lm_head.weight"))
        ]
        if missing:
            some = count(len(missing), "weight is", "weights are")
            raise BadModel(
                f"{folder}: {some} missing, such as {missing[0]}. The folder holds no decoder, or "
                f"is incomplete: fetch or save the model again."
            )
        return cls(model, Tokenizer.load(folder)).eval()

    @property
    def width(self) -> int:
        """The size D of the encoder's states."""
        return int(self.model.config.hidden_size)

    def save(self, folder: Path) -> None:
        """Save it as transformers does."""
        with quiet():
            self.model.save_pretrained(folder)
        self.tokenizer.save(folder)

    def collate(self, rows: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """Ids side by side (R, n), padded on the right, and where they are not padding."""
        n = max((len(row) for row in rows), default=0)
        ids, mask = np.full((len(rows), n), self.tokenizer.pad_id, np.int64), np.zeros((len(rows), n), np.bool_)
        for r, row in enumerate(rows):
            ids[r, : len(row)], mask[r, : len(row)] = row, True
        device = next(self.parameters()).device
        return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)

    def encode(self, prompts: Sequence[Ints]) -> tuple[Tensor, Tensor]:
        """Framed prompts -> states (R, m, D) and mask (R, m)."""
        ids, mask = self.collate(prompts)
        states: Tensor = self.model.get_encoder()(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        return states, mask

    def log_p(self, states: Tensor, mask: Tensor, said: Tensor) -> Tensor:
        """log p (R, T, V) of the piece at each position of what is said (R, T), given the pieces before it."""
        first = torch.full_like(said[:, :1], self.start)
        before = torch.cat([first, said[:, :-1]], dim=1)  # (R, T)
        out = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=mask.long(),
            decoder_input_ids=before,
            use_cache=False,
        )
        found: Tensor = out.logits.float().log_softmax(dim=-1)
        return found
