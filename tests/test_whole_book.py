"""A learner who follows every chapter: all the exercises together, each in another right style, make a model that works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from submissions import ROOT, Class

CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("*/chapter.md"))

# Runs after the learner's functions have taken the places of the package's own.
END = """
import json, sys
import torch
from hero_course.engine.worker import owner_of
from hero_transformer import *
from hero_transformer import doubles
from hero_transformer.exercise import replaced_by
from hero_transformer.gradients import block_backward
from hero_transformer.tokenizer import train_bpe

def current(target):
    place, name = owner_of(target)
    return vars(place)[name]

tokenizer = CharTokenizer(doubles.LINE)
ids = torch.tensor([tokenizer.encode("春眠不觉"), tokenizer.encode("处处闻啼")])
inputs, targets = shift_targets(ids)
sizes = dict(vocab_size=32, block_size=64, d_model=64, n_heads=4, n_layers=2, d_ff=256)
model = TransformerLM(Config(**sizes)).double()
logits, _ = model(inputs)
cross_entropy(logits, targets).backward()
arrived = [bool(p.grad.any()) for p in model.parameters()]
leaf = logits.detach().requires_grad_()
(by_autograd,) = torch.autograd.grad(cross_entropy(leaf, targets), leaf)
hidden, upstream = doubles.numbers(2, 3, 64, seed=1), doubles.numbers(2, 3, 64, seed=2)
block = model.blocks[0]
mine, grads = block_backward(upstream, block, hidden)
leaf = hidden.clone().requires_grad_()
names = [name for name, _ in block.named_parameters()]
theirs = torch.autograd.grad(block(leaf)[0], [leaf, *block.parameters()], upstream)
_, presents = model(inputs[:, :2], use_cache=True)
last, _ = model(inputs[:, 2:], presents, use_cache=True)
bpe = BPETokenizer(train_bpe(doubles.LINE.encode() * 3, 9))
torch.nn.init.zeros_(model.head.weight)
print(json.dumps({
    "the package's own": [t for t in json.loads(sys.argv[1]) if replaced_by(current(t)) is None],
    "arrived": arrived,
    "loss at a zero head": cross_entropy(model(inputs)[0], targets).item(),
    "gradient of the loss": (cross_entropy_backward(logits.detach(), targets) - by_autograd).abs().max().item(),
    "gradients of a block": max((a - b).abs().max().item() for a, b in zip([mine, *(grads[n] for n in names)], theirs)),
    "with a cache": (last - logits[:, 2:]).abs().max().item(),
    "ledger": diagnose_count(sum(p.numel() for p in model.parameters()), Config(**sizes)),
    "round trip": bpe.decode(bpe.encode(doubles.LINE)) == doubles.LINE and len(bpe.tokens) > 256,
}))
"""


# the third style of block_backward hangs hooks on layers that the third style of FeedForward does not call
@pytest.mark.parametrize("style", range(2))
def test_a_learner_who_follows_the_book_ends_with_a_working_model(style: int, tmp_path: Path) -> None:
    written, targets = [], []
    for name in CHAPTERS:
        room = Class(ROOT, name)
        lines = [next(room.chapter.of_kind("setup")).source.replace("verify_edition()", "'the whole package'")]
        for cell in room.chapter.of_kind("exercise"):
            lines.append(room.styles[cell.key][style % len(room.styles[cell.key])])
            targets.append(cell.options["exercise"])
        written.append(f"chapter_{name}")  # each in a module, as each has a notebook of its own
        (tmp_path / f"{written[-1]}.py").write_text("\n\n".join(lines), encoding="utf-8")
    (tmp_path / "end.py").write_text("".join(f"import {name}\n" for name in written) + END, encoding="utf-8")
    command = [sys.executable, "end.py", json.dumps(targets)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=_environment())
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["the package's own"] == []
    assert found["arrived"] == [True] * 29
    assert found["loss at a zero head"] == pytest.approx(3.4657359027997265, abs=1e-12)  # ln 32
    assert found["gradient of the loss"] < 1e-12
    assert found["gradients of a block"] < 1e-10
    assert found["with a cache"] < 1e-12
    assert found["ledger"].startswith("107776 = 107776")
    assert found["round trip"] is True


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}
