"""nbgrader's own commands with a broken configuration: one line, and nothing runs or is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hero_course.course import CONFIGURATION, nbgrader_config
from hero_course.errors import CourseError

NAME = "05_decoder_block"
MAIN = "from nbgrader.apps.nbgraderapp import main; main()"
WITHOUT = "import sys; sys.modules['hero_course'] = None; "
AUTOGRADE = ("autograde", NAME, "--force")


@pytest.fixture
def course(root: Path, tmp_path: Path) -> Path:
    """A course with a gradebook, a submission and a graded notebook, as far as a broken configuration may see it."""
    for name in CONFIGURATION:
        shutil.copy(root / name, tmp_path)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "gradebook.db").write_bytes(b"marks")
    for step in ("submitted", "autograded"):
        (tmp_path / step / "lin" / NAME).mkdir(parents=True)
        (tmp_path / step / "lin" / NAME / f"{NAME}.ipynb").write_text(step)
    return tmp_path


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def nbgrader(root: Path, *words: str, before: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("HERO_")}
    command = [sys.executable, "-B", "-c", before + MAIN, *words]
    return subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, env={**variables, "NO_COLOR": "1", **more}
    )


def spoil(root: Path, how: str) -> None:
    """Break the settings as an instructor might."""
    path = root / "course_config.py"
    if how == "gone":
        path.unlink()
    elif how:
        path.write_text(path.read_text(encoding="utf-8") + f"\n{how}\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("how", "before", "more", "said"),
    [
        ("", "", {"HERO_LANG": "fr"}, "HERO_LANG: expected zh or en, got 'fr'"),
        ("", "", {"HERO_SANDBOX": "docker"}, "HERO_SANDBOX: expected bubblewrap or none, got 'docker'"),
        ("", WITHOUT, {}, "run the nbgrader of the environment in which the course is installed"),
        ("c.HeroExecute.cell_seconds = (", "", {}, "course_config.py: SyntaxError"),
        ("c.HeroExecute.cell_seconds = sixty", "", {}, "NameError: name 'sixty' is not defined"),
        ("gone", "", {}, "course_config.py: FileNotFoundError"),
    ],
)
def test_a_broken_configuration_stops_nbgrader(course: Path, how: str, before: str, more: dict, said: str) -> None:
    spoil(course, how)
    kept = files(course)
    done = nbgrader(course, *AUTOGRADE, before=before, **more)
    assert done.returncode != 0
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert files(course) == kept


def test_a_garbage_gradebook_stops_nbgrader_before_anybody_is_touched(course: Path) -> None:
    kept = files(course)
    done = nbgrader(course, *AUTOGRADE, HERO_SANDBOX="none")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("Remedy: restore it from a copy, or move it away to begin a new one")
    assert "Traceback" not in done.stderr
    assert files(course) == kept


def test_a_missing_sandbox_stops_nbgrader_before_anybody_is_touched(course: Path) -> None:
    (course / "gradebook.db").unlink()
    kept = files(course)
    done = nbgrader(course, *AUTOGRADE, PATH="/nowhere")
    assert done.returncode == 1
    assert "bubblewrap (the program bwrap) is missing" in done.stderr.splitlines()[-1]
    assert files(course) == kept


def test_hero_says_it_too(course: Path) -> None:
    spoil(course, "1 / 0")
    with pytest.raises(CourseError, match=r"course_config\.py: ZeroDivisionError: division by zero"):
        nbgrader_config(course, "zh")
