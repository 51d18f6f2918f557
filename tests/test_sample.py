"""The sample class: the same each time, of every kind, and never in another learner's way."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import nbformat
import pytest

from hero_course.chapter import Chapter, read_chapter
from hero_course.course import find_root, nbgrader_config
from hero_course.errors import CourseError
from hero_course.sample import plan_class, sample_course, write_class

NAME = "05_decoder_block"


@pytest.fixture
def copy(course: Path, tmp_path: Path) -> Path:
    shutil.copytree(course, tmp_path / "course", ignore=shutil.ignore_patterns("source"))
    return tmp_path / "course"


def chapter_of(root: Path) -> Chapter:
    return read_chapter(root / "chapters" / NAME / "chapter.md")


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_class_is_the_same_each_time(copy: Path) -> None:
    write_class(copy, chapter_of(copy))
    first = files(copy / "submitted")
    write_class(copy, chapter_of(copy))
    assert files(copy / "submitted") == first
    notebooks = sorted(name for name in first if name.endswith(".ipynb"))
    assert notebooks == [f"sample-{number:02}/{NAME}/{NAME}.ipynb" for number in range(1, len(notebooks) + 1)]
    assert len(notebooks) >= 12
    assert not list(copy.glob(".build-*"))


def test_class_has_every_kind_of_submission(course: Path) -> None:
    samples = plan_class(course, chapter_of(course))
    cells = {sample.about: sample.cells for sample in samples}
    right = cells["all right"]
    assert set(right) == {cell.key for cell in chapter_of(course).of_kind("exercise", "prediction")}
    assert cells["blank"] == {}
    assert {sample.lang for sample in samples} == {"zh", "en"}
    differing = [sum(sample.cells.get(key) != code for key, code in right.items()) for sample in samples]
    two = next(sample for sample in samples if sample.about.startswith("two mistakes"))
    assert differing[samples.index(two)] == 2
    written = [cell.key for cell in chapter_of(course).of_kind("exercise")]
    assert "return result" in cells["an error at run time"][written[0]]
    with pytest.raises(SyntaxError):
        ast.parse(cells["a syntax error"][written[-1]])
    single = {sample.about.split("__")[0] for sample in samples if "__" in sample.about} - {two.about.split("__")[0]}
    assert set(written) < single <= set(right)


def test_submissions_are_the_release_with_some_cells_written(copy: Path) -> None:
    for sample in write_class(copy, chapter_of(copy)):
        released = nbformat.read(copy / "release" / sample.lang / NAME / f"{NAME}.ipynb", as_version=4)
        handed_in = nbformat.read(copy / "submitted" / sample.learner / NAME / f"{NAME}.ipynb", as_version=4)
        assert "### BEGIN" not in str(handed_in)
        changed = {ours.id for ours, theirs in zip(handed_in.cells, released.cells, strict=True) if ours != theirs}
        assert changed == set(sample.cells)


def test_other_learners_and_other_chapters_are_left_alone(copy: Path) -> None:
    keep = [*(f"{one}/{NAME}/a.ipynb" for one in ("lin", "sample-x", "sample-01b")), "sample-01/06_next/a.ipynb"]
    keep.append(f"sample-99/{NAME}/{NAME}.ipynb")  # a learner's, whoever chose that name
    for name in keep:
        (copy / "submitted" / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / "submitted" / name).write_text("mine")
    write_class(copy, chapter_of(copy))
    found = files(copy / "submitted")
    assert all(found[name] == b"mine" for name in keep)


@pytest.mark.parametrize("how", ["edited", "another file", "somebody's own"])
def test_a_sample_that_a_person_changed_is_not_replaced(copy: Path, how: str) -> None:
    folder = copy / "submitted" / "sample-01" / NAME
    if how == "somebody's own":
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text("mine")
    else:
        write_class(copy, chapter_of(copy))
        changed = folder / (f"{NAME}.ipynb" if how == "edited" else "notes.txt")
        changed.write_text("mine")
    before = files(copy / "submitted")
    with pytest.raises(CourseError, match="was not written by this command, or was changed"):
        write_class(copy, chapter_of(copy))
    assert files(copy / "submitted") == before


def test_the_sample_class_has_a_course_of_its_own(course: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(course, tmp_path / "course"))
    (root / "gradebook.db").write_bytes(b"real marks")
    before = files(root)
    demo = sample_course(root, chapter_of(root))
    write_class(demo, chapter_of(root))
    assert {name: content for name, content in files(root).items() if not name.startswith("demo/")} == before
    assert find_root(demo / "submitted") == demo
    url = nbgrader_config(demo, "zh").CourseDirectory.db_url
    assert url.startswith(f"sqlite:///{demo / 'gradebook.db'}")
    assert sample_course(demo, chapter_of(root)) == demo
    again = files(demo)
    assert sample_course(root, chapter_of(root)) == demo
    assert files(demo) == again


def test_a_folder_in_the_demos_place_is_left_alone(course: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(course, tmp_path / "course"))
    (root / "demo").mkdir()
    (root / "demo" / "talk.txt").write_text("mine")
    with pytest.raises(CourseError, match="is in the way"):
        sample_course(root, chapter_of(root))
    assert files(root / "demo") == {"talk.txt": b"mine"}


def test_class_needs_a_release_and_changes_nothing_without_it(copy: Path) -> None:
    write_class(copy, chapter_of(copy))
    before = files(copy / "submitted")
    shutil.rmtree(copy / "release" / "en")
    with pytest.raises(CourseError, match="hero build"):
        write_class(copy, chapter_of(copy))
    assert files(copy / "submitted") == before
