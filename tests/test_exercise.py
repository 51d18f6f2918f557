"""How a learner's function takes the place of the library's, and how it is given back."""

from __future__ import annotations

import importlib
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import hero_transformer
from hero_transformer import model
from hero_transformer.arguments import checked_by
from hero_transformer.barred import BARRED
from hero_transformer.exercise import BarredAnswer, NotWrittenError, barred_answers, replaced_by, replaces, standing_in
from hero_transformer.model import Config, FeedForward, TransformerBlock

CONFIG = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8)


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever module of the package has the name: `replaces` puts a function wherever the old one is met."""
    for module in [one for name, one in sys.modules.items() if name.partition(".")[0] == "hero_transformer"]:
        if "gelu" in vars(module):
            monkeypatch.setattr(module, "gelu", module.gelu)
    monkeypatch.setattr(TransformerBlock, "forward", TransformerBlock.forward)


def test_a_function_is_met_by_the_package_the_notebook_and_the_face() -> None:
    @replaces(model)
    def gelu(x):
        return torch.full_like(x, 7.0)

    one = torch.ones(1, 1, 4)
    assert gelu(one).unique().tolist() == model.gelu(one).unique().tolist() == [7.0]
    assert hero_transformer.gelu(one).unique().tolist() == [7.0]
    with torch.no_grad():
        feed_forward = FeedForward(CONFIG)
        feed_forward.linear_2.weight.fill_(1.0)
        feed_forward.linear_2.bias.zero_()
        assert torch.equal(feed_forward(one), torch.full((1, 1, 4), 56.0))


def test_a_method_is_replaced_on_its_class() -> None:
    @replaces(TransformerBlock)
    def forward(self, hidden, past_key_value=None, use_cache=False):
        return hidden + 1, None

    hidden, _ = TransformerBlock(CONFIG)(torch.zeros(1, 1, 4))
    assert hidden.tolist() == [[[1.0] * 4]]
    assert replaced_by(forward).target == "model.TransformerBlock.forward"


@pytest.mark.parametrize("message", ["'gelu'", ""])
def test_a_stub_gives_back_what_the_edition_had(message: str) -> None:
    original = model.gelu

    @replaces(model)
    def gelu(x):
        return x

    names = {"replaces": replaces, "model": model}
    exec(f"@replaces(model)\ndef gelu(x):\n    'doc'\n    raise NotImplementedError({message})", names)
    assert model.gelu is original
    assert names["gelu"](torch.tensor(0.0)) == 0


def test_an_editions_stub_says_in_one_line_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def gelu(x):
        raise NotImplementedError("gelu")

    monkeypatch.setattr(model, "gelu", gelu)
    for _ in range(2):  # running the cell twice changes nothing
        replaces(model)(gelu)
        with pytest.raises(NotImplementedError, match=r"^gelu$") as caught:
            model.gelu(1)
        (line,) = caught.value._render_traceback_()
        assert "not written yet: fill in the cell gelu" in line

    @replaces(model)
    def gelu(x):
        return x + 1

    assert model.gelu(1) == 2
    with pytest.raises(NotImplementedError, match=r"^gelu$"):
        replaced_by(model.gelu).edition(1)


def test_a_stub_says_so_behind_an_argument_check_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def gelu(x):
        raise NotImplementedError("gelu")

    monkeypatch.setattr(model, "gelu", checked_by(lambda x: None)(gelu))
    replaces(model)(gelu)
    with pytest.raises(NotWrittenError, match=r"^gelu$"):
        model.gelu(1)


def test_a_stub_below_a_return_is_an_answer() -> None:
    @replaces(model)
    def gelu(x):
        return x + 5
        raise NotImplementedError("gelu")

    assert model.gelu(1) == 6


def test_redefining_keeps_the_editions_own() -> None:
    original = model.gelu
    for shift in (1, 2):
        exec(f"@replaces(model)\ndef gelu(x):\n    return x + {shift}", {"replaces": replaces, "model": model})
    assert model.gelu(0) == 2
    assert replaced_by(model.gelu).edition is original


def test_a_renamed_def_says_so() -> None:
    with pytest.raises(AttributeError, match="has no function gulu: keep the def line"):

        @replaces(model)
        def gulu(x):
            return x


def test_a_stand_in_is_met_by_parts_made_inside_and_leaves_no_trace() -> None:
    before = model.gelu, model.LayerNorm
    with standing_in(gelu=F.relu, LayerNorm=nn.LayerNorm):
        block = TransformerBlock(CONFIG)
        assert isinstance(block.ln_attention, nn.LayerNorm)
        assert model.gelu is F.relu
    assert (model.gelu, model.LayerNorm) == before
    with pytest.raises(ZeroDivisionError), standing_in(gelu=F.relu):
        raise ZeroDivisionError
    assert model.gelu is before[0]


def test_a_stand_in_is_met_by_a_notebook_that_imported_the_package_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that does not compile leaves the name as set-up imported it; other answers must not suffer."""
    notebook = sys.modules["__main__"]
    monkeypatch.setattr(notebook, "gelu", model.gelu, raising=False)
    monkeypatch.setattr(notebook, "LayerNorm", "the learner's own", raising=False)
    with standing_in(gelu=F.relu, LayerNorm=nn.LayerNorm):
        assert notebook.gelu is F.relu
        assert notebook.LayerNorm == "the learner's own"
    assert notebook.gelu is model.gelu


def test_a_stand_in_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no module of the package has the name gulu"), standing_in(gulu=F.gelu):
        pass


@pytest.mark.parametrize("way", [F.gelu, nn.GELU(), nn.GELU("tanh"), torch._C._nn.gelu])
def test_the_answer_itself_is_refused_however_it_is_reached(way) -> None:
    @replaces(model)
    def gelu(x):
        return way(x)

    with barred_answers(replaced_by(gelu)):
        with pytest.raises(BarredAnswer, match=r"torch\.nn\.functional\.gelu is the answer itself"):
            gelu(torch.ones(2))
        F.gelu(torch.ones(2))  # an oracle may use it
    assert gelu(torch.ones(2)).shape == (2,)


def test_every_barred_target_is_a_function_of_the_package() -> None:
    for target, barred in BARRED.items():
        module, *rest = target.split(".")
        found = importlib.import_module(f"hero_transformer.{module}")
        for name in rest:
            found = getattr(found, name)
        assert callable(found)
        assert barred.functions
        assert all(map(callable, barred.functions))
