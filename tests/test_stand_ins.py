"""What stands in for an exercise works for every check but its own exercise's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from hero_course.course import read_chapters
from hero_transformer import doubles, gradients, model
from hero_transformer.attention import CausalSelfAttention
from hero_transformer.exercise import BarredAnswer, barred_answers, replaced_by, replaces
from hero_transformer.model import Config, TransformerBlock

ROOT = Path(__file__).resolve().parents[1]
CONFIG = Config(vocab_size=10, block_size=6, d_model=4, n_heads=2, n_layers=1, d_ff=8)


def _answers(part: object) -> tuple[str, ...]:
    """The exercises that a stand-in is marked as the answer to."""
    return getattr(part.forward if isinstance(part, type) else part, "answers", ())


def test_every_part_that_a_check_puts_in_an_exercises_place_is_marked_as_its_answer() -> None:
    chapters = read_chapters(ROOT)
    exercises = {cell.options["exercise"] for chapter in chapters for cell in chapter.of_kind("exercise")}
    text = "\n".join(chapter.path.read_text(encoding="utf-8") for chapter in chapters)
    used = set(re.findall(r"\bdoubles\.(\w+)", text)) & set(doubles.stand_ins.__all__)
    answers = {name: _answers(getattr(doubles, name)) for name in used}
    assert all(answers.values()), answers
    assert {target for targets in answers.values() for target in targets} <= exercises


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for home, name in ((gradients, "linear_backward"), (TransformerBlock, "forward"), (CausalSelfAttention, "forward")):
        monkeypatch.setattr(home, name, vars(home)[name])


def test_a_stand_in_that_is_the_answer_refuses_while_its_exercise_is_checked() -> None:
    @replaces(gradients)
    def linear_backward(upstream, x, weight):
        return doubles.linear_backward(upstream, x, weight)

    some = torch.ones(2, 3)
    assert len(linear_backward(some, some, torch.ones(3, 3))) == 3
    with barred_answers(replaced_by(linear_backward)):
        assert len(doubles.linear_backward(some, some, torch.ones(3, 3))) == 3, "the check itself may ask it"
        with pytest.raises(BarredAnswer, match="linear_backward is the answer itself"):
            linear_backward(some, some, torch.ones(3, 3))


def test_an_oracle_of_torchs_own_layers_refuses_too() -> None:
    @replaces(TransformerBlock)
    def forward(self, hidden, past_key_value=None, use_cache=False):
        return doubles.torch_layer(self)(hidden, src_mask=doubles.causal(hidden.shape[1]), is_causal=True), None

    block = TransformerBlock(CONFIG).double()
    hidden = torch.zeros(1, 3, 4, dtype=torch.float64)
    assert block(hidden)[0].shape == (1, 3, 4)
    with barred_answers(replaced_by(forward)), pytest.raises(BarredAnswer, match="torch_layer is the answer itself"):
        block(hidden)


def test_other_stand_ins_work_inside_an_exercise_that_is_checked() -> None:
    @replaces(TransformerBlock)
    def forward(self, hidden, past_key_value=None, use_cache=False):
        return doubles.attend(hidden, hidden, hidden), None

    with barred_answers(replaced_by(forward)):
        assert TransformerBlock(CONFIG)(torch.zeros(1, 3, 4))[0].shape == (1, 3, 4)


def test_the_stand_in_of_the_feed_forward_is_called_as_the_packages() -> None:
    part = doubles.filled(doubles.FeedForward(CONFIG), seed=1)
    hidden = doubles.numbers(2, 3, 4, seed=2)
    inner = F.gelu(F.linear(hidden, part.linear_1.weight, part.linear_1.bias))
    torch.testing.assert_close(part(hidden), F.linear(inner, part.linear_2.weight, part.linear_2.bias))
    with pytest.raises(TypeError, match=r"FeedForward.forward\(\) takes 2 positional arguments but 3 were given"):
        part(hidden, None)
    assert isinstance(part, model.nn.Module)


def test_the_stand_in_of_attention_says_which_side_the_past_is_missing_on() -> None:
    with pytest.raises(ValueError, match=r"v needs one row for each key: k is \[1, 5, 4\], v is \[1, 2, 4\]"):
        doubles.attend(torch.zeros(1, 2, 4), torch.zeros(1, 5, 4), torch.zeros(1, 2, 4))
