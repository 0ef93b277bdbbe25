"""How transformers names the heads that it puts on its encoders, so that its own classes load what is written here.

    ours                       theirs, on BERT
    head.words.dense.weight    cls.predictions.transform.dense.weight
    head.pairs.2.out.weight    cls.seq_relationship.weight

Weights that are tied to the word vectors are in a file once, as word vectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

CAUSAL = ("gpt2", "gpt_neox", "llama", "openai-gpt", "qwen2")  # each cell sees those before it, whatever the mask


@dataclass(frozen=True)
class HeadNames:
    """None or empty: transformers has no such head on this encoder."""

    base: str  # what the encoder's own names begin with
    words: tuple[str, str, str] | None = None  # dense, norm, bias
    pair: tuple[str, str] | None = None  # the pooler, and what follows it
    replaced: tuple[str, str] | None = None
    masked: str = ""  # the class with the words head alone, or of a model that reads from left to right
    whole: str = ""  # the class with all its heads

    def ours(self) -> dict[str, str]:
        """Our names -> theirs."""
        dense, norm, bias = self.words or ("", "", "")
        pooler, pair = self.pair or ("", "")
        judge, verdict = self.replaced or ("", "")
        modules = {"words.dense": dense, "words.norm": norm, "pairs.2.dense": pooler, "pairs.2.out": pair,
                   "replaced.dense": judge, "replaced.out": verdict}  # fmt: skip
        found = {
            f"head.{mine}.{part}": f"{theirs}.{part}"
            for mine, theirs in modules.items()
            for part in ("weight", "bias")
            if theirs
        }
        return found | ({"head.words.bias": bias} if bias else {})

    def renamed(self, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The heads among a learner's weights, by their names."""
        return {theirs: state[mine] for mine, theirs in self.ours().items() if mine in state}

    def class_for(self, names: Mapping[str, Tensor]) -> str:
        """The class that loads these weights, all of them."""
        every = self.pair or self.replaced
        return self.whole if every and f"{every[1]}.weight" in names else self.masked


_CLS = ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias")
_LM = ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias")
HEAD_NAMES: dict[str, HeadNames] = {
    "albert": HeadNames(
        "albert.",
        ("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
        ("albert.pooler", "sop_classifier.classifier"),
        masked="AlbertForMaskedLM",
        whole="AlbertForPreTraining",
    ),
    "bert": HeadNames(
        "bert.",
        _CLS,
        ("bert.pooler.dense", "cls.seq_relationship"),
        masked="BertForMaskedLM",
        whole="BertForPreTraining",
    ),
    "camembert": HeadNames("roberta.", _LM, masked="CamembertForMaskedLM"),
    "distilbert": HeadNames(
        "distilbert.", ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"), masked="DistilBertForMaskedLM"
    ),
    "electra": HeadNames(
        "electra.",
        ("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias"),
        replaced=("discriminator_predictions.dense", "discriminator_predictions.dense_prediction"),
        masked="ElectraForMaskedLM",
        whole="ElectraForPreTraining",
    ),
    "ernie": HeadNames(
        "ernie.",
        _CLS,
        ("ernie.pooler.dense", "cls.seq_relationship"),
        masked="ErnieForMaskedLM",
        whole="ErnieForPreTraining",
    ),
    "gpt2": HeadNames("transformer.", masked="GPT2LMHeadModel"),
    "mpnet": HeadNames("mpnet.", _LM, masked="MPNetForMaskedLM"),
    "openai-gpt": HeadNames("transformer.", masked="OpenAIGPTLMHeadModel"),
    "roberta": HeadNames("roberta.", _LM, masked="RobertaForMaskedLM"),
    "xlm-roberta": HeadNames("roberta.", _LM, masked="XLMRobertaForMaskedLM"),
}
