"""The Makefile's targets: nothing of a person's is removed or replaced, in a path with spaces, too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

NEW = """#!/bin/sh
mkdir -p "$PWD/work/$2-$HERO_LANG"
echo "$PWD/work/$2-$HERO_LANG/$2.ipynb"
"""


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_make_lab_opens_the_folder_of_chapter_and_language(root: Path, tmp_path: Path) -> None:
    course = tmp_path / "my course"
    (course / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(root / "Makefile", course)
    for name, script in (("hero", NEW), ("jupyter", '#!/bin/sh\necho "$1 $2 in $PWD"\n')):
        (course / ".venv" / "bin" / name).write_text(script)
        (course / ".venv" / "bin" / name).chmod(0o755)
    words = ["make", "--silent", "--assume-old=.venv/ready", "lab", "CHAPTER=05_small", "HERO_LANG=en"]
    (course / ".venv" / "ready").touch()
    for name in ("requirements.lock", "pyproject.toml"):
        (course / name).touch()
    done = subprocess.run(words, cwd=course, check=True, capture_output=True, text=True)
    place = course / "work" / "05_small-en"
    assert done.stdout.splitlines() == [f"{place}/05_small.ipynb", f"lab 05_small.ipynb in {place}"]


REAL = ("gradebook.db", "packs/a.zip", "report/a.html", "work/a/a.ipynb", "submitted/sample-01/a/a.ipynb", "set_aside/a")


@pytest.mark.parametrize("made", [True, False])
def test_make_clean_removes_the_demo_and_nothing_of_a_persons(root: Path, tmp_path: Path, made: bool) -> None:
    shutil.copy(root / "Makefile", tmp_path)
    for name in (*REAL, "demo/gradebook.db", *(["demo/.sample"] if made else [])):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("marks")
    before = files(tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    kept = {name: content for name, content in before.items() if not (made and name.startswith("demo/"))}
    assert files(tmp_path) == kept


def test_make_demo_works_in_the_demos_folder_alone(root: Path) -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--assume-old=.venv/ready", "demo"], cwd=root, check=True, capture_output=True, text=True
    )
    lines = [line for line in done.stdout.splitlines() if "hero " in line]
    assert [line for line in lines if "grade" in line or "report" in line] == lines[-2:]
    assert all(line.startswith("cd demo && hero ") for line in lines[-2:])
    assert "nbgrader" not in done.stdout
