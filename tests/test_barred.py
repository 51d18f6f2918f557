"""What is barred is barred by whatever way it is called, and nothing else is."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.nn import functional as F

from hero_transformer import model
from hero_transformer.barred import BARRED, Barred
from hero_transformer.exercise import BarredAnswer, barred_answers, replaced_by, replaces

X = torch.linspace(-1, 1, 8).reshape(2, 4)
RANKED = X[:, :, None]


def compiled(function: Callable) -> Callable:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.trace(function, X, check_trace=False)


def in_a_pool(function: Callable) -> Callable:
    def call(x: torch.Tensor) -> torch.Tensor:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, x).result()

    return call


# Each: the exercise, and calls that each would be its whole answer.
WAYS: dict[str, dict[str, Callable[[torch.Tensor], object]]] = {
    "model.gelu": {
        "function": F.gelu,
        "module": torch.nn.GELU(),
        "in place": lambda x: torch._C._nn.gelu_(x.clone()),
        "operation": torch.ops.aten.gelu,
        "overload": torch.ops.aten.gelu.default,
        "operation in place": lambda x: torch.ops.aten.gelu_(x.clone()),
        "compiled": compiled(F.gelu),
        "compiled module": compiled(torch.nn.GELU()),
        "compiled within": compiled(torch.nn.Sequential(torch.nn.Sequential(torch.nn.GELU()))),
        "thread": in_a_pool(F.gelu),
        "vmap": torch.func.vmap(F.gelu),
    },
    "model.LayerNorm.forward": {
        "rms": lambda x: torch.rms_norm(x, (4,)),
        "native": lambda x: torch.native_layer_norm(x, (4,), None, None, 1e-5),
        "group": lambda x: torch.native_group_norm(RANKED, None, None, 2, 4, 1, 1, 1e-5),
        "operation": lambda x: torch.ops.aten.native_layer_norm(x, (4,), None, None, 1e-5),
        "batch": lambda x: torch.native_batch_norm(RANKED, None, None, None, None, True, 0.1, 1e-5),
    },
    "attention.attend": {
        "operation": lambda x: torch.ops.aten.scaled_dot_product_attention(x[None], x[None], x[None]),
        "math": lambda x: torch.ops.aten._scaled_dot_product_attention_math(x[None], x[None], x[None]),
    },
    "loss.cross_entropy": {
        "operation": lambda x: torch.ops.aten._log_softmax(x, 1, False),
        "method": lambda x: x.logsumexp(1),
        "special": lambda x: torch.special.logsumexp(x, 1),
        "loss": lambda x: torch.ops.aten.nll_loss_forward(x, torch.tensor([0, 1]), None, 1, -100),
    },
    "gradients.gelu_backward": {
        "operation": lambda x: torch.ops.aten.gelu_backward(x, x),
        "autograd": lambda x: torch.autograd.grad((one := x.clone().requires_grad_()).sum(), one),
        "jvp": lambda x: torch.func.jvp(F.gelu, (x,), (x,)),
    },
    "embedding.embed": {"operation": lambda x: torch.ops.aten.embedding(x, torch.tensor([1]))},
}


@pytest.fixture
def checked() -> Callable[[str, Callable], object]:
    """Calls a function as the body of `gelu` while that is checked, with the bar of another exercise."""

    def call(target: str, function: Callable) -> object:
        @replaces(model)
        def gelu(x: torch.Tensor) -> torch.Tensor:
            return function(x)

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(BARRED, "model.gelu", BARRED[target])
            with barred_answers(replaced_by(gelu)):
                return model.gelu(X)

    return call


@pytest.fixture(autouse=True)
def _the_package_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "gelu", model.gelu)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own, where forward mode is first used
@pytest.mark.parametrize(("target", "way"), [(target, way) for target, ways in WAYS.items() for way in ways])
def test_no_way_leads_round_the_bar(checked: Callable, target: str, way: str) -> None:
    with pytest.raises(BarredAnswer, match="is the answer itself"):
        checked(target, WAYS[target][way])
    WAYS[target][way](X)  # it works where nothing is checked


@pytest.mark.parametrize("function", [torch.erf, torch.tanh, compiled(torch.erf), in_a_pool(torch.erf), torch.ops.aten.erf])
def test_other_functions_pass(checked: Callable, function: Callable) -> None:
    start, call = threading.Thread.start, torch._C.ScriptFunction.__call__
    assert torch.equal(checked("model.gelu", function), function(X))
    assert (threading.Thread.start, torch._C.ScriptFunction.__call__) == (start, call)


def test_a_name_that_this_torch_does_not_have_bars_nothing() -> None:
    missing = Barred("no_such_operation", "autograd.no_such_function", "nowhere.at.all")
    assert missing.functions == frozenset()
    assert torch.erf not in missing
