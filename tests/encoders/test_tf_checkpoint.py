import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from factpin.encoders.tf_checkpoint import read_checkpoint
from tests.encoders.wheels import tf_checkpoint

names = st.lists(st.text("ab/_01", min_size=1, max_size=12), unique=True, max_size=20)


@settings(deadline=None)
@given(names=names, per_block=st.integers(1, 7), seed=st.integers(0, 99))
def test_reading_undoes_writing(names, per_block, seed):
    chance = np.random.default_rng(seed)
    tensors = {}
    for name in names:
        shape = chance.integers(1, 200, int(chance.integers(0, 3)))
        tensors[name] = chance.standard_normal(shape).astype(chance.choice(["float32", "float64"]))
    found = read_checkpoint(*tf_checkpoint(tensors, per_block))
    assert found.keys() == tensors.keys()
    for name, value in tensors.items():
        assert found[name].dtype == np.float32 and found[name].shape == value.shape
        np.testing.assert_array_equal(found[name], value.astype(np.float32))


def test_counters_are_no_weights():
    tensors = {"global_step": np.array(7, np.int64), "w": np.ones(3, np.float32)}
    assert list(read_checkpoint(*tf_checkpoint(tensors))) == ["w"]
