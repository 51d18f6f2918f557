"""Answers that nobody thought about: nothing, NaN, zeros, an argument given back, the right answer in a tuple."""

from __future__ import annotations

import ast
import textwrap

from hero_course.chapter import Cell
from hero_course.compile import solved_cell
from hero_course.solutions import Solution

__all__ = ["kinds", "thoughtless"]

_FILLED = """\
def filled(value):
    if isinstance(value, torch.Tensor):
        return torch.full_like(value.detach(), NUMBER) if value.is_floating_point() else torch.zeros_like(value)
    if isinstance(value, torch.nn.Module):
        for parameter in value.parameters():
            parameter.data.fill_(NUMBER)
        return value
    if isinstance(value, dict):
        return {name: filled(one) for name, one in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(filled(one) for one in value)
    return type(value)() if isinstance(value, (str, bytes, type(None))) else type(value)(0)
result = filled(right(*every))
"""
# For each, what is done instead of returning what ``right(*every)`` returns; ``arguments`` are ``every``, self apart.
THOUGHTLESS = {
    "nothing": "result = None",
    "an empty tuple": "result = ()",
    "an empty list": "result = []",
    "no items": "result = iter(())",
    "NaN": _FILLED.replace("NUMBER", "float('nan')"),
    "zeros": _FILLED.replace("NUMBER", "0.0"),
    "its own argument": "result = arguments[0]",
    "a tuple of one": "result = (right(*every),)",
}


def kinds(cell: Cell, solutions: dict[str, Solution]) -> list[str]:
    """The kinds of such answers to an exercise; NaN and zeros only where something is returned."""
    nothing = "-> None:" in solutions[cell.options["exercise"]].source
    return [kind for kind in THOUGHTLESS if not (nothing and kind in ("NaN", "zeros"))]


def thoughtless(cell: Cell, solutions: dict[str, Solution], kind: str) -> str:
    """The code of an exercise's cell, answered without a thought.

    Args:
        cell: the exercise.
        solutions: of the book.
        kind: one of `kinds`.
    """
    function = ast.parse(textwrap.dedent(solutions[cell.options["exercise"]].source)).body[0]
    assert isinstance(function, ast.FunctionDef)
    names = [argument.arg for argument in function.args.args]
    instead = (
        f"every = ({', '.join(names)},)\narguments = every[{int(names[0] == 'self')}:]\n{THOUGHTLESS[kind]}\nreturn result"
    )
    right = ast.FunctionDef(
        name="right", args=function.args, body=function.body, decorator_list=[], returns=None, type_params=[]
    )
    answer = ast.FunctionDef(
        name=function.name, args=function.args, body=[*ast.parse("import torch").body, right, *ast.parse(instead).body],
        decorator_list=[], returns=None, type_params=[],
    )  # fmt: skip
    return solved_cell(cell, solutions, ast.unparse(ast.fix_missing_locations(answer)))
