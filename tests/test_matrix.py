"""The grading matrix is exact: right answers full, blank zero, each known mistake on the diagonal and named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from thoughtless import kinds, thoughtless

from hero_course.chapter import Cell, Chapter, read_chapter
from hero_course.compile import solved_cell
from hero_course.rehearsal import CellRun, rehearse, without_examples
from hero_course.solutions import find_solutions, stub
from hero_course.variants import read_misconceptions, read_variants
from hero_transformer.checks import NAMED

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("*/chapter.md"))
Runs = dict[str, CellRun]
# Checks that an answer without a thought passes, and may: for each chapter, each check, the kinds.
PASSES: dict[str, dict[str, set[str]]] = {
    # they look at how blocks are put together; what the blocks hold is looked at by two others
    "07_language_model": {f"make-blocks-{one}": {"NaN", "zeros"} for one in ("list", "independent", "sizes")},
}


class Rehearsed:
    """One chapter and the runs of all its answers."""

    def __init__(self, course: Path, name: str) -> None:
        solutions = find_solutions(course / "hero_transformer")
        self.chapter: Chapter = read_chapter(course / "chapters" / name / "chapter.md")
        self.mistakes = read_misconceptions(self.chapter, solutions)
        wrong = ROOT / "tests" / "wrong_answers" / f"{name}.py"
        named_apart = (replace(one, id=f"wrong {one.id}") for one in read_variants(wrong, self.chapter, solutions))
        self.wrong = list(named_apart)
        self.right = read_variants(ROOT / "tests" / "right_answers" / f"{name}.py", self.chapter, solutions)
        exercises = list(self.chapter.of_kind("exercise", "prediction"))
        blank = {c.key: f"{c.key} = ..." if c.kind == "prediction" else _stubbed(c, solutions) for c in exercises}
        answers: dict[str, dict[str, str]] = {"reference": {}, "blank": blank}
        answers |= {f"{c.key}, input set to zero": {c.key: _zeroed(c, solutions)} for c in self.taking_tensors(solutions)}
        answers |= {
            f"{c.key} answered with {kind}": {**self._aside(c), c.key: thoughtless(c, solutions, kind)}
            for c in self.chapter.of_kind("exercise")
            for kind in kinds(c, solutions)
        }
        answers |= {variant.id: {variant.exercise: variant.code} for variant in [*self.mistakes, *self.right, *self.wrong]}
        folder = course / "source" / "zh" / name
        whole = nbformat.read(folder / f"{name}.ipynb", as_version=4)
        self.runs = rehearse(without_examples(whole), folder, answers)
        self.whole = rehearse(whole, folder, {"reference": {}})["reference"]
        self.release = rehearse(
            nbformat.read(course / "release" / "zh" / name / f"{name}.ipynb", as_version=4),
            course / "release" / "zh" / name,
            {"blank": {}},
        )["blank"]

    def taking_tensors(self, solutions) -> list[Cell]:
        """The exercises that are called with tensors."""
        cells = self.chapter.of_kind("exercise")
        return [c for c in cells if "Tensor" in solutions[c.options["exercise"]].source.partition("->")[0]]

    def _aside(self, exercise: Cell) -> dict[str, str]:
        """The checks of the other exercises, left out."""
        checks = self.chapter.of_kind("check", "hidden")
        return {cell.key: "pass" for cell in checks if cell.exercise != exercise.key}

    def lost(self, answer: str) -> set[str]:
        """The keys of the graded cells that the answer does not pass."""
        return {key for key, run in self.runs[answer].items() if run.graded and not run.passed}


def _stubbed(cell, solutions) -> str:
    header = solutions[cell.options["exercise"]].source.partition("### BEGIN SOLUTION")[0].rstrip()
    return solved_cell(cell, solutions, f"{header}\n    {stub(cell.key)}")


def _zeroed(cell, solutions) -> str:
    """The solution, which first sets every tensor that it is given to zero."""
    head, marker, rest = solutions[cell.options["exercise"]].source.partition("    ### BEGIN SOLUTION")
    spoil = "    for value in tuple(locals().values()):\n        if hasattr(value, 'zero_'):\n            value.detach().zero_()\n"
    return solved_cell(cell, solutions, head + spoil + marker + rest)


@pytest.fixture(scope="module", params=CHAPTERS)
def rehearsed(course: Path, request: pytest.FixtureRequest) -> Rehearsed:
    return Rehearsed(course, request.param)


def test_reference_gets_full_marks_and_every_cell_runs(rehearsed: Rehearsed) -> None:
    assert rehearsed.lost("reference") == set()
    tagged = {cell.key for cell in rehearsed.chapter.cells if "raises-exception" in cell.options.get("tags", [])}
    assert {key for key, run in rehearsed.whole.items() if not run.passed} == tagged
    graded = [run for run in rehearsed.runs["reference"].values() if run.graded]
    assert all(run.outcomes for run in graded), "a check that looks at nothing"


def test_blank_gets_zero(rehearsed: Rehearsed) -> None:
    graded = {key for key, run in rehearsed.runs["blank"].items() if run.graded}
    assert rehearsed.lost("blank") == graded != set()
    for key in graded:
        asked = next(rehearsed.chapter.cell(str(c.exercise)) for c in rehearsed.chapter.cells if c.key == key)
        wanted = "no prediction yet" if asked.kind == "prediction" else f"fill in the cell {asked.key}"
        assert wanted in rehearsed.runs["blank"][key].message


def test_an_answer_without_a_thought_passes_no_check_that_is_not_declared_for_it(rehearsed: Rehearsed) -> None:
    passed = set()
    for cell in rehearsed.chapter.of_kind("check", "hidden"):
        for answer, runs in rehearsed.runs.items():
            exercise, _, kind = answer.partition(" answered with ")
            if kind and exercise == cell.exercise and runs[cell.key].passed:
                passed.add((cell.key, kind))
    declared = PASSES.get(rehearsed.chapter.name, {})
    assert passed == {(key, kind) for key, several in declared.items() for kind in several}


def test_three_right_answers_of_other_styles_get_full_marks(rehearsed: Rehearsed) -> None:
    for cell in rehearsed.chapter.of_kind("exercise"):
        assert sum(variant.exercise == cell.key for variant in rehearsed.right) >= 3, cell.key
    assert {variant.id: rehearsed.lost(variant.id) for variant in rehearsed.right} == {
        variant.id: set() for variant in rehearsed.right
    }


def test_each_mistake_loses_points_on_its_own_exercise_and_nowhere_else(rehearsed: Rehearsed) -> None:
    own = {cell.key: cell.exercise for cell in rehearsed.chapter.of_kind("check", "hidden")}
    for mistake in rehearsed.mistakes:
        lost = rehearsed.lost(mistake.id)
        assert lost, f"{mistake.id} is not caught"
        assert {own[key] for key in lost} == {mistake.exercise}, mistake.id


def test_no_expectation_is_computed_from_what_the_answer_left_behind(rehearsed: Rehearsed) -> None:
    for answer, runs in rehearsed.runs.items():
        key, _, zeroed = answer.partition(", ")
        if zeroed:
            lost = rehearsed.lost(answer)
            about = {cell.key: cell for cell in rehearsed.chapter.of_kind("check", "hidden") if cell.exercise == key}
            compared = {k for k in about if any("torch" in label for label in runs[k].outcomes)}
            visible = {k for k, cell in about.items() if cell.kind == "check"}
            assert (compared | visible) <= lost, f"{key}: {sorted((compared | visible) - lost)} compare with a spoilt input"


def test_each_mistake_is_named_and_never_misnamed(rehearsed: Rehearsed) -> None:
    for mistake in rehearsed.mistakes:
        named = _names(rehearsed.runs[mistake.id][key].message for key in rehearsed.lost(mistake.id))
        assert {mistake.name} in named, f"{mistake.id} is not named by any check"
        assert all(names <= {mistake.name} for names in named), (mistake.id, named)


def test_wrong_answers_that_nobody_foresaw_lose_points_on_their_own_exercise_and_get_no_wrong_name(
    rehearsed: Rehearsed,
) -> None:
    own = {cell.key: cell.exercise for cell in rehearsed.chapter.of_kind("check", "hidden")}
    for answer in rehearsed.wrong:
        lost = rehearsed.lost(answer.id)
        assert {own[key] for key in lost} == {answer.exercise}, answer.id
        names = _names(rehearsed.runs[answer.id][key].message for key in lost)
        assert set().union(*names) <= {answer.name}, (answer.id, names)


def test_in_a_blank_release_the_first_cell_that_fails_is_the_first_visible_check(rehearsed: Rehearsed) -> None:
    first_check = next(rehearsed.chapter.of_kind("check"))
    failed = [run for run in rehearsed.release.values() if not run.passed]
    assert failed[0].key == first_check.key
    assert str(first_check.exercise) in failed[0].message


def test_every_message_is_bilingual_and_shows_no_checking_code(rehearsed: Rehearsed) -> None:
    for answer, runs in rehearsed.runs.items():
        for run in runs.values():
            if run.graded and not run.passed:
                assert run.error == "CheckFailed", (answer, run)
                assert "with checks(" not in run.message
                assert "Traceback" not in run.message


def test_variants_have_names_in_both_languages(rehearsed: Rehearsed) -> None:
    for variant in rehearsed.mistakes:
        assert _has_han(variant.name), variant
        assert any(c.isascii() and c.isalpha() for c in variant.name), variant


def _names(messages: Iterable[str]) -> list[set[str]]:
    """The mistakes that each message names."""
    return [{line.removeprefix(NAMED) for line in m.splitlines() if line.startswith(NAMED)} for m in messages]


def _has_han(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)
