import torch
from torch.nn.functional import kl_div, logsigmoid

from factpin.layers.agreement import one_of_apart, yes_no_apart


def test_yes_no_equals_the_divergence_written_out() -> None:
    torch.manual_seed(0)
    s, t = torch.randn(2, 3, 4, 4), torch.randn(2, 3, 4, 4)
    none = torch.rand(2, 3, 4, 4) < 0.3
    s, t = s.masked_fill(none, -torch.inf), t.masked_fill(none, -torch.inf)
    total = torch.zeros(2, 3)
    for b, label, i, j in (~none).nonzero().tolist():
        x, y = s[b, label, i, j], t[b, label, i, j]
        p, q = torch.stack([logsigmoid(x), logsigmoid(-x)]), torch.stack([logsigmoid(y), logsigmoid(-y)])
        both = kl_div(q, p, log_target=True, reduction="sum") + kl_div(p, q, log_target=True, reduction="sum")
        total[b, label] += both / 2
    torch.testing.assert_close(yes_no_apart(s, t), total.mean())
    assert yes_no_apart(s, s) == 0


def test_one_of_equals_the_divergence_written_out_and_passes_over_padding() -> None:
    torch.manual_seed(0)
    e, f = torch.randn(2, 3, 5), torch.randn(2, 3, 5)
    real = torch.tensor([[True, True, False], [True, False, False]])
    p, q = e.log_softmax(-1), f.log_softmax(-1)
    both = kl_div(q, p, log_target=True, reduction="none") + kl_div(p, q, log_target=True, reduction="none")
    torch.testing.assert_close(one_of_apart(e, f, real), both.sum(-1)[real].sum() / 2 / 2)
    e[~real] = 1e4
    assert torch.isfinite(one_of_apart(e, f, real))
