"""Bad sources: one clear error with file and line, and nothing written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hero_course.build import build
from hero_course.course import CONFIGURATION
from hero_course.errors import SourceError
from hero_course.glossary import read_glossary

ROOT = Path(__file__).resolve().parents[1]

CHAPTER = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
chapter:
  title: {zh: 小, en: Small}
  minutes: 5
  claims:
  - {id: A1, zh: "$g(1)=0.8413447$", en: "$g(1)=0.8413447$", cell: example}
---

+++ {"key": "opening", "lang": "zh"}

# 小

值是 $g(1)=0.8413447$。

+++ {"key": "opening", "lang": "en"}

# Small

The value is $g(1)=0.8413447$.

```{code-cell} ipython3
:key: setup
:setup: true

import math

import torch
from hero_transformer import model
from hero_transformer.checks import checks
from hero_transformer.exercise import replaces
from hero_transformer.model import gelu
```

```{code-cell} ipython3
:key: before

one = torch.tensor(1.0, dtype=torch.float64)
```

```{code-cell} ipython3
:key: gelu
:exercise: model.gelu
```

```{code-cell} ipython3
:key: gelu-seen
:check: gelu
:points: 1

with checks("gelu-seen", gelu) as c:
    c.close("g(1)", gelu(torch.ones(1, dtype=torch.float64))[0], 0.8413447460685429)
```

```{code-cell} ipython3
:key: gelu-unseen
:hidden: gelu
:points: 1
:about: a negative input

with checks("gelu-unseen", gelu, known=known) as c:
    c.close("g(−1)", gelu(-torch.ones(1, dtype=torch.float64))[0], -0.15865525393145705)
```

```{code-cell} ipython3
:key: example

print(round(gelu(one).item(), 7))
```
"""

MISTAKES = '''\
def gelu__relu(x):
    """用了 ReLU | ReLU instead"""
    return x.clamp(min=0)
'''


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A course of one small chapter with one exercise, not yet built."""
    (tmp_path / "chapters" / "05_small").mkdir(parents=True)
    (tmp_path / "chapters" / "05_small" / "chapter.md").write_text(CHAPTER, encoding="utf-8")
    (tmp_path / "chapters" / "05_small" / "misconceptions.py").write_text(MISTAKES, encoding="utf-8")
    for name in CONFIGURATION:
        shutil.copy(ROOT / name, tmp_path)
    shutil.copy(ROOT / "chapters" / "glossary.md", tmp_path / "chapters")
    package = tmp_path / "hero_transformer"
    shutil.copytree(ROOT / "hero_transformer", package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in package.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        head, marker, rest = text.partition("def gelu(")
        body, end, tail = rest.partition("### END SOLUTION")
        path.write_text(_unmarked(head) + marker + body + end + _unmarked(tail), encoding="utf-8")
    return tmp_path


def _unmarked(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "SOLUTION" not in line)


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_right_source_builds_twice_to_the_same_bytes(small: Path) -> None:
    assert build(small, say=lambda text: None) == ["05_small"]
    first = _tree(small)
    assert "source/en/05_small/05_small.ipynb" in first
    assert "release/zh/05_small/hero_transformer/model.py" in first
    assert "chapters/05_small/en.ipynb" in first
    reader = small / "chapters" / "05_small" / "zh.ipynb"
    _replace(reader, "import torch", "import torch  # my note")
    mine, said = reader.read_bytes(), []
    build(small, say=lambda text: None, warn=said.append)
    (kept,) = (small / "set_aside" / "05_small").iterdir()
    assert kept.read_bytes() == mine
    assert said == [f"05_small/zh.ipynb had been edited by hand; a copy of it as it was: {kept}"]
    assert _tree(small) == first | {str(kept.relative_to(small)): mine}


# what is replaced, by what, the line of the error (a text that stands there after the change), what it says
BAD_CHAPTERS = {
    "unknown target": (":exercise: model.gelu", ":exercise: model.gulu", "```{code-cell} ipython3\n:key: gelu\n", "no solution region"),
    "no other language": ('+++ {"key": "opening", "lang": "en"}\n\n# Small\n\nThe value is $g(1)=0.8413447$.\n', "", '"lang": "zh"', "missing in en"),
    "duplicate key": (":key: before", ":key: setup", "```{code-cell} ipython3\n:key: setup", "'setup' stands already"),
    "formulas differ": ("# Small\n\nThe value is $g(1)=0.8413447$", "# Small\n\nThe value is $g(1)=0.8413448$", '"lang": "zh"', "differ between the languages"),
    "formula missing": ("The value is $g(1)=0.8413447$.", "There is a value.", '"lang": "zh"', "only in zh"),
    "claim without a cell": ("cell: example}", "cell: exemple}", "id: A1", "'exemple', which is no cell"),
    "claim of a hidden cell": ("cell: example}", "cell: gelu-unseen}", "id: A1", "no cell that a reader sees"),
    "no key": (":key: before\n", "", "```{code-cell} ipython3\n\none", "without a key"),
    "misspelt marker": ("one = torch", "### BEGIN HIDEN TESTS\none = torch", "### BEGIN HIDEN", "misspelt marker"),
    "marker in a chapter": ("one = torch", "### BEGIN SOLUTION\n### END SOLUTION\none = torch", "### BEGIN SOL", "the build writes markers"),
    "unknown option": (":points: 1", ":point: 1", "```{code-cell} ipython3\n:key: gelu-seen", "unknown options ['point']"),
    "check before its exercise": (":key: gelu\n:exercise: model.gelu", ":key: gelu2\n:exercise: model.gelu", "```{code-cell} ipython3\n:key: gelu-seen", "no exercise of this chapter"),
    "not one block": ("    c.close(\"g(1)\"", "    pass\nif True:\n    c.close(\"g(1)\"", "```{code-cell} ipython3\n:key: gelu-seen", "not one block"),
    "Chinese on two lines": ("值是 $g(1)=0.8413447$。", "值是 $g(1)=0.8413447$。\n它为正。", "值是 $g(1)=0.8413447$。\n它", "on two lines"),
    "term of one language": ('"lang": "zh"}', '"lang": "zh", "terms": ["token"]}', '"lang": "zh"', "the terms of 'opening' differ"),
    "unknown term": ('"key": "opening"', '"key": "opening", "terms": ["tokn"]', '"lang": "zh"', "'tokn' is not in chapters/glossary.md"),
    "another word": ('"key": "opening"', '"key": "opening", "terms": ["token"]', '"lang": "zh"', "does not say 词元"),
    "stray asterisks": ("值是 $g(1)", "**“值”**是 $g(1)", "**“值”**", "does not render"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CHAPTERS)
def test_a_bad_chapter_gets_one_error_with_its_line_and_writes_nothing(small: Path, case: str) -> None:
    old, new, place, message = BAD_CHAPTERS[case]
    path = small / "chapters" / "05_small" / "chapter.md"
    _replace(path, old, new)
    before = _tree(small)
    with pytest.raises(SourceError) as caught:
        build(small, say=lambda text: None)
    text = path.read_text(encoding="utf-8")
    line = text[: text.rindex(place)].count("\n") + 1
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert message in str(caught.value)
    assert _tree(small) == before


BAD_RUNS = {
    "quantity that no cell shows": ("0.8413447$", "0.8413448$", "0.8413448, which"),
    "exercise called before its cell": (
        "one = torch",
        "one = gelu(torch.tensor(1.0)) * torch",
        "'gelu' before its cell",
    ),
    "claim whose cell shows nothing": (
        "print(round(gelu(one).item(), 7))",
        "value = gelu(one)",
        "neither asserts nor shows",
    ),
    "example that fails": ("print(round(gelu", "print(1 / 0, round(gelu", "ZeroDivisionError"),
    "check that leans on an example": ("gelu(torch.ones(1, dtype=torch.float64))[0]", "gelu(one)", "name 'one'"),
    "check that the reference fails": ("-0.15865525393145705", "-0.2", "CheckFailed"),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_a_chapter_whose_run_disagrees_writes_nothing(small: Path, case: str) -> None:
    old, new, message = BAD_RUNS[case]
    _replace(small / "chapters" / "05_small" / "chapter.md", old, new)
    before = _tree(small)
    with pytest.raises(SourceError, match=r"chapter\.md:\d+: ") as caught:
        build(small, say=lambda text: None)
    assert message in str(caught.value)
    assert _tree(small) == before


BAD_PACKAGES = {
    "region without an exercise": ("def forward(self, hidden: torch.Tensor)", "SOLUTION", "no exercise points at"),
    "begin without end": ("### END SOLUTION", "", "without its partner"),
    "misspelt": ("### END SOLUTION", "### END SOLUTON", "misspelt marker"),
    "hidden marker": ("### END SOLUTION", "### END SOLUTION\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", "in the package"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_PACKAGES)
def test_a_bad_marker_in_the_package_is_refused(small: Path, case: str) -> None:
    old, new, message = BAD_PACKAGES[case]
    path = small / "hero_transformer" / "model.py"
    if new == "SOLUTION":
        old, new = (
            "def parameter_count",
            "def unasked() -> int:\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n\n\ndef parameter_count",
        )
    _replace(path, old, new)
    with pytest.raises(SourceError, match=r"model\.py:\d+: ") as caught:
        build(small, say=lambda text: None)
    assert message in str(caught.value)


def test_a_missing_or_nameless_mistake_is_refused(small: Path) -> None:
    path = small / "chapters" / "05_small" / "misconceptions.py"
    path.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(SourceError, match="no known mistake for 'gelu'"):
        build(small, say=lambda text: None)
    path.write_text('def gelu__relu(x):\n    """ReLU"""\n    return x\n', encoding="utf-8")
    with pytest.raises(SourceError, match=r"misconceptions\.py:1: .*no name in both languages"):
        build(small, say=lambda text: None)


NAMELESS = {
    "harmless": ("return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))", "gelu__odd passes every check"),
    "the same as another": ("return torch.relu(x)", "sees the same of gelu__relu"),
    "raised by hand": ("raise ValueError('mine')", "gelu-unseen sees only what many mistakes do: raised raise ValueError"),
    "NaN": ("return x * float('nan')", "gelu-seen sees only what many mistakes do: g(1)"),
}  # fmt: skip


@pytest.mark.parametrize("case", NAMELESS)
def test_a_mistake_that_no_check_tells_is_refused(small: Path, case: str) -> None:
    body, message = NAMELESS[case]
    path = small / "chapters" / "05_small" / "misconceptions.py"
    odd = f'\n\ndef gelu__odd(x):\n    """另一种 | another"""\n    {body}\n'
    path.write_text(MISTAKES + odd, encoding="utf-8")
    with pytest.raises(SourceError, match=r"misconceptions\.py:\d+: line \d+: gelu__") as caught:
        build(small, say=lambda text: None)
    assert message in str(caught.value)
    assert not (small / "source").exists()


def test_the_glossary_has_each_term_once_and_in_both_languages(tmp_path: Path) -> None:
    path = tmp_path / "glossary.md"
    path.write_text("| `head` | 头, 注意力头 | head | … |\n", encoding="utf-8")
    assert read_glossary(path) == {"head": {"zh": ("头", "注意力头"), "en": ("head",)}}
    for second, message in (("| `head` | 头 | head | |", "stands twice"), ("| `mask` |  | mask | |", "lacks a language")):
        path.write_text(f"| `head` | 头 | head | … |\n{second}\n", encoding="utf-8")
        with pytest.raises(SourceError, match=rf":2: .*{message}"):
            read_glossary(path)
