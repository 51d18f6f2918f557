"""The zip that learners get: exactly what they need, the same bytes each time, and never an answer."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest

import hero_course.pack
from hero_course.build import SHEET
from hero_course.errors import CourseError
from hero_course.pack import pack, unpack, write_whole

NAME = "05_decoder_block"


@pytest.fixture
def copy(course: Path, tmp_path: Path) -> Path:
    """The environment and the releases of the course, to be spoilt."""
    shutil.copytree(course / "release", tmp_path / "release")
    shutil.copy(course / "environment.yml", tmp_path)
    return tmp_path


def test_pack_holds_exactly_what_a_learner_needs(copy: Path) -> None:
    release = copy / "release" / "zh" / NAME
    for stray in ("__pycache__/a.pyc", ".ipynb_checkpoints/a.ipynb", "hero_transformer/__pycache__/a.pyc", "notes.txt"):
        (release / stray).parent.mkdir(exist_ok=True)
        (release / stray).write_text("stray")
    modules = {path.name for path in (copy / "release" / "en" / NAME / "hero_transformer").glob("*.py")}
    assert "model.py" in modules
    path = pack(copy, NAME, "zh")
    assert path == copy / "packs" / f"{NAME}-zh.zip"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        inside = archive.read(f"{NAME}/{NAME}.ipynb")
        assert {one.external_attr >> 16 for one in archive.infolist()} == {0o644}
    own = [f"{NAME}.ipynb", SHEET, "environment.yml", *(f"hero_transformer/{module}" for module in modules)]
    assert names == sorted(f"{NAME}/{name}" for name in own)
    assert inside == (release / f"{NAME}.ipynb").read_bytes()


def test_pack_gives_the_same_bytes_whatever_the_files_dates(copy: Path, tmp_path: Path) -> None:
    first = pack(copy, NAME, "en", tmp_path / "one").read_bytes()
    for path in (copy / "release").rglob("*"):
        os.utime(path, (1, 1))
    assert pack(copy, NAME, "en", tmp_path / "two").read_bytes() == first
    assert pack(copy, NAME, "zh", tmp_path / "two").read_bytes() != first


def test_a_folder_to_work_in_is_what_the_zip_holds(copy: Path) -> None:
    notebook, new = unpack(copy, NAME, "en")
    folder = copy / "work" / f"{NAME}-en"
    assert (notebook, new) == (folder / f"{NAME}.ipynb", True)
    with zipfile.ZipFile(pack(copy, NAME, "en")) as archive:
        packed = {name.removeprefix(f"{NAME}/"): archive.read(name) for name in archive.namelist()}
    assert {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == packed


def test_what_a_learner_wrote_is_never_replaced(copy: Path) -> None:
    notebook, _ = unpack(copy, NAME, "zh")
    notebook.write_text("mine")
    (notebook.parent / "environment.yml").unlink()
    assert unpack(copy, NAME, "zh") == (notebook, False)
    assert notebook.read_text() == "mine"
    other, new = unpack(copy, NAME, "en")
    assert new
    assert other.parent != notebook.parent
    notebook.rename(notebook.with_name("kept.ipynb"))
    (notebook.parent / "hero_transformer" / "model.py").write_text("mine, too")
    assert unpack(copy, NAME, "zh") == (notebook, True)
    assert (notebook.parent / "hero_transformer" / "model.py").read_text() == "mine, too"
    assert (notebook.parent / "kept.ipynb").read_text() == "mine"
    assert (notebook.parent / "environment.yml").is_file()


def test_pack_refuses_a_missing_release_and_says_how_to_make_it(copy: Path) -> None:
    shutil.rmtree(copy / "release" / "zh")
    with pytest.raises(CourseError, match=f"run hero build {NAME}"):
        pack(copy, NAME, "zh")


def test_pack_refuses_a_release_without_its_edition(copy: Path) -> None:
    init = copy / "release" / "zh" / NAME / "hero_transformer" / "__init__.py"
    init.write_text(init.read_text().replace(NAME, "reference"))
    with pytest.raises(CourseError, match="no learner's edition"):
        pack(copy, NAME, "zh")
    assert not (copy / "packs").exists()


def test_pack_refuses_a_missing_environment(copy: Path) -> None:
    (copy / "environment.yml").unlink()
    with pytest.raises(CourseError, match="environment"):
        pack(copy, NAME, "zh")


@pytest.mark.parametrize("marker", ["### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "### BEGIN SOLUTIONS"])
@pytest.mark.parametrize("where", ["notebook", "edition"])
def test_pack_refuses_a_marker(copy: Path, marker: str, where: str) -> None:
    folder = copy / "release" / "zh" / NAME
    text = marker + "\nx = 1\n" + marker.replace("BEGIN", "END")
    if where == "edition":
        path = folder / "hero_transformer" / "model.py"
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    else:
        path = folder / f"{NAME}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        notebook.cells[1].source += "\n" + text
        nbformat.write(notebook, path)
    with pytest.raises(CourseError, match=r"SOLUTION|HIDDEN"):
        pack(copy, NAME, "zh")
    assert not (copy / "packs").exists()


def test_pack_refuses_an_answer_in_the_place_of_a_stub(copy: Path) -> None:
    path = copy / "release" / "zh" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "gelu")
    cell.source = cell.source.replace("raise NotImplementedError('gelu')", "return x")
    nbformat.write(notebook, path)
    with pytest.raises(CourseError, match="'gelu' holds an answer"):
        pack(copy, NAME, "zh")


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    write_whole(path, b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hero_course.pack.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]
    assert path.read_bytes() == b"old"
