import numpy as np
import pytest
import torch
from transformers import T5EncoderModel

from factpin.encoders import Encoder, small_encoder
from factpin.encoders.rows import NAME
from factpin.errors import BadInput, BadModel
from factpin.tokens import Tokenizer
from factpin.tokens.small import build_tokenizer
from tests.encoders.architectures import CONFIGS, LONGEST, WORDS, tiny

# transformers' DeBERTa still compiles with it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

TEXTS = ["谷爱凌出生于美国加利福尼亚州旧金山。", "Hello world, the café in Zürich.", "北京大学"]


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(TEXTS, WORDS)


def a_batch(lengths=(17, 5, 11), seed=0):
    chance = np.random.default_rng(seed)
    ids = np.zeros((len(lengths), max(lengths)), np.int64)
    mask = np.zeros_like(ids, bool)
    for b, n in enumerate(lengths):
        ids[b, :n] = chance.integers(5, WORDS, n)
        mask[b, :n] = True
    return torch.from_numpy(ids), torch.from_numpy(mask)


@pytest.mark.parametrize("name", CONFIGS)
def test_hidden_states_have_one_vector_a_token(name):
    encoder = tiny(name)
    ids, mask = a_batch()
    encoded = encoder(ids, mask)
    assert encoded.hidden.shape == (3, 17, encoder.width) and encoder.width == 32
    assert encoded.attention is None


@pytest.mark.parametrize("name", CONFIGS)
def test_padding_changes_nothing(name):
    encoder = tiny(name)
    ids, mask = a_batch()
    with torch.no_grad():
        together = encoder(ids, mask).hidden
        for b in range(len(ids)):
            n = int(mask[b].sum())
            alone = encoder(ids[b : b + 1, :n], mask[b : b + 1, :n]).hidden
            torch.testing.assert_close(together[b, :n], alone[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", CONFIGS)
def test_what_stands_under_padding_is_never_read(name):
    encoder = tiny(name)
    ids, mask = a_batch()
    with torch.no_grad():
        other = encoder(ids.masked_fill(~mask, 7), mask).hidden
        torch.testing.assert_close(encoder(ids, mask).hidden[mask], other[mask])


@pytest.mark.parametrize("name", CONFIGS)
def test_gradients_reach_every_weight(name):
    encoder = tiny(name)
    ids, mask = a_batch()
    (encoder(ids, mask).hidden[mask] ** 2).mean().backward()
    silent = [key for key, weight in encoder.named_parameters() if weight.grad is None]
    # Without segments and a second stream three weights of XLNet take no part; RoFormer's positions are constants.
    assert [
        key for key in silent if not key.endswith(("seg_embed", "r_s_bias", "mask_emb", "embed_positions.weight"))
    ] == []
    assert all(weight.grad.isfinite().all() for weight in encoder.parameters() if weight.grad is not None)


@pytest.mark.parametrize("name", CONFIGS)
def test_rows_are_the_attention_of_the_last_layer(name):
    encoder = tiny(name)
    ids, mask = a_batch()
    rows = torch.tensor([[0, 0], [0, 16], [1, 3], [2, 9]])
    with torch.no_grad():
        encoded = encoder(ids, mask, rows)
        torch.testing.assert_close(encoded.hidden, encoder(ids, mask).hidden)
        encoder.model.set_attn_implementation("eager")
        whole = encoder(ids, mask, rows).attention  # by output_attentions of the eager form
    assert encoded.attention.shape == (4, 4, 17)
    torch.testing.assert_close(encoded.attention, whole, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(encoded.attention.sum(-1), torch.ones(4, 4))
    assert (encoded.attention.transpose(1, 2)[~mask[rows[:, 0]]] < 1e-6).all()


@pytest.mark.parametrize("name", ["bert", "modernbert", "t5"])
def test_gradients_of_rows_are_those_of_the_eager_form(name):
    ids, mask = a_batch()
    rows = torch.tensor([[0, 2], [1, 4]])
    gradients = []
    for implementation in (None, "eager"):
        encoder = tiny(name)
        if implementation:
            encoder.model.set_attn_implementation(implementation)
        (encoder(ids, mask, rows).attention ** 2).sum().backward()
        gradients.append(encoder.model.get_input_embeddings().weight.grad)
    assert gradients[0].abs().max() > 0
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", ["albert", "bart", "bert", "electra", "modernbert", "roberta", "t5"])
def test_attention_is_fused_where_the_architecture_has_it(name):
    encoder = tiny(name).eval()
    assert encoder.config._attn_implementation == "sdpa"
    assert encoder.train().config._attn_implementation == NAME


def test_an_encoder_can_be_exported_and_compiled():
    encoder = small_encoder(WORDS, width=32).eval()

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = encoder

        def forward(self, ids, mask):
            return self.encoder(ids, mask).hidden

    ids, mask = a_batch()
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    exported = torch.export.export(Hidden(), (ids, mask), dynamic_shapes=(free, free), strict=False).module()
    other_ids, other_mask = a_batch((9, 30, 4, 22))
    with torch.no_grad():
        wanted = encoder(other_ids, other_mask).hidden
        torch.testing.assert_close(exported(other_ids, other_mask)[other_mask], wanted[other_mask], atol=1e-6, rtol=0)
        compiled = torch.compile(Hidden(), backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(ids, mask), encoder(ids, mask).hidden)


def test_a_text_that_is_too_long_is_refused():
    ids, mask = a_batch((67,))
    with pytest.raises(BadInput, match="67 tokens.*at most 66.*windows"):
        tiny("bert")(ids, mask)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_longest_text_fits_and_the_bound_is_right(name):
    encoder = tiny(name)
    assert encoder.max_length == LONGEST.get(name, 66)
    n = encoder.max_length or 200
    ids, mask = a_batch((n,))
    assert encoder(ids, mask).hidden.isfinite().all()


@pytest.mark.parametrize("name", CONFIGS)
def test_loading_what_was_saved_changes_nothing(name, tokenizer, tmp_path):
    encoder = tiny(name, tokenizer)
    encoder.save(tmp_path)
    again = Encoder.load(tmp_path)
    ids, mask = a_batch()
    with torch.no_grad():
        torch.testing.assert_close(again(ids, mask).hidden, encoder(ids, mask).hidden, atol=0, rtol=0)
    assert again.max_length == encoder.max_length and not again.training


@pytest.mark.parametrize("name", ["bart", "bert", "t5", "xlnet"])
def test_a_config_gives_the_same_shape_for_the_same_weights(name, tokenizer, tmp_path):
    encoder = tiny(name, tokenizer)
    encoder.save_config(tmp_path)
    again = Encoder.from_config(tmp_path).eval()
    again.load_state_dict(encoder.state_dict())
    ids, mask = a_batch()
    with torch.no_grad():
        torch.testing.assert_close(again(ids, mask).hidden, encoder(ids, mask).hidden, atol=0, rtol=0)


def test_a_batch_is_padded_at_the_right(tokenizer):
    encoder = small_encoder(tokenizer.vocab_size, tokenizer=tokenizer).eval()
    framed = [encoder.frame(tokenizer.encode(text).ids)[0] for text in TEXTS]
    ids, mask = encoder.batch(framed)
    assert ids.shape == mask.shape == (3, max(len(one) for one in framed))
    assert mask.sum(1).tolist() == [len(one) for one in framed]
    assert (ids[~mask] == tokenizer.pad_id).all()
    assert encoder(ids, mask).hidden.shape[:2] == ids.shape


def test_a_small_encoder_learns():
    torch.manual_seed(0)
    encoder = small_encoder(WORDS, width=32, dropout=0.0)
    ids, mask = a_batch()
    wanted = torch.randn(3, 17, 32)
    steps = torch.optim.Adam(encoder.parameters(), 3e-3)
    losses = []
    for _ in range(60):
        loss = ((encoder(ids, mask).hidden - wanted)[mask] ** 2).mean()
        steps.zero_grad()
        loss.backward()
        steps.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_an_encoder_without_a_tokenizer_says_so():
    with pytest.raises(BadInput, match="has no tokenizer"):
        small_encoder(WORDS).frame(np.array([1], np.int32))


def test_missing_weights_are_refused(tokenizer, tmp_path):
    encoder = tiny("bert", tokenizer)
    encoder.save(tmp_path)
    tiny("electra", tokenizer).config.save_pretrained(tmp_path)
    with pytest.raises(BadModel, match="missing|cannot be loaded"):
        Encoder.load(tmp_path)


def test_a_folder_without_weights_is_named(tokenizer, tmp_path):
    tiny("bert", tokenizer).save_config(tmp_path)
    with pytest.raises(BadModel, match="model.safetensors"):
        Encoder.load(tmp_path)


def test_code_in_a_folder_is_never_run(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    (tmp_path / "config.json").write_text(
        '{"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.M"}}'
    )
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(BadModel):
        Encoder.load(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_the_tokenizer_of_a_saved_encoder_is_the_same(tokenizer, tmp_path):
    tiny("bert", tokenizer).save(tmp_path)
    for text in TEXTS:
        assert Tokenizer.load(tmp_path).encode(text).ids.tolist() == tokenizer.encode(text).ids.tolist()


def test_the_encoder_half_of_t5_says_which_class_loads_it(tmp_path, tokenizer):
    encoder = tiny("t5", tokenizer)
    encoder.save(tmp_path)
    loaded, report = T5EncoderModel.from_pretrained(tmp_path, output_loading_info=True)
    assert loaded.config.architectures == ["T5EncoderModel"] and not report["missing_keys"]
    ids = torch.arange(5, 12)[None]
    got, expected = loaded(ids).last_hidden_state, encoder(ids, torch.ones_like(ids, dtype=torch.bool)).hidden
    torch.testing.assert_close(got, expected)
