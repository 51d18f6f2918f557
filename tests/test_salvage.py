"""What was handed in, whatever it is: read by one road, with bounded work; what was chosen and left out is said."""

from __future__ import annotations

import io
import json
import os
import shutil
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from hero_course.engine import handed_in, reading
from hero_course.engine.handed_in import contents, learners_own, look, read_plain
from hero_course.engine.reading import UnreadableError, read_notebook
from hero_course.engine.restore import NOTES, restore
from hero_course.engine.salvage import salvage
from hero_course.engine.timestamp import read_timestamp

NAME = "05_small"
KEY = "### {} SOLUTION"
ANSWER = "@replaces(model)\ndef gelu(x):\n    return x + 1\n"
PIXEL = "iVBORw0KGgo="


def _marks(name: str, **more: object) -> dict[str, object]:
    marks = {"grade": False, "grade_id": name, "locked": False, "solution": False, "schema_version": 3, "task": False}
    return {"nbgrader": marks | more}


def _instructor() -> NotebookNode:
    region = f"    {KEY.format('BEGIN')}\n    return x * 2\n    {KEY.format('END')}\n"
    exercise = {"stub": "raise NotImplementedError('gelu')", "target": "model.gelu"}
    return new_notebook(
        cells=[
            new_code_cell("import math", id="setup", metadata=_marks("setup", locked=True)),
            new_code_cell(
                f"@replaces(model)\ndef gelu(x):\n{region}", id="gelu",
                metadata=_marks("gelu", solution=True) | {"hero": exercise},
            ),
            new_code_cell("check(gelu)", id="gelu-values", metadata=_marks("gelu-values", locked=True, grade=True, points=1)),
        ]
    )  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """An instructor's folder of a chapter with one exercise."""
    folder = tmp_path / "source" / "zh" / NAME
    folder.mkdir(parents=True)
    nbformat.write(_instructor(), folder / f"{NAME}.ipynb")
    (folder / "data.csv").write_text("the instructor's")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A learner's folder, empty."""
    folder = tmp_path / "submitted" / "lin" / NAME
    folder.mkdir(parents=True)
    return folder


def notebook(answer: str | None = ANSWER) -> NotebookNode:
    """A submission with this answer, or left blank."""
    cells = _instructor().cells
    cells[1].source = answer or "@replaces(model)\ndef gelu(x):\n    raise NotImplementedError('gelu')"
    return new_notebook(cells=cells)


def text(answer: str | None = ANSWER) -> bytes:
    return nbformat.writes(notebook(answer)).encode()


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


FOREIGN = nbformat.writes(
    new_notebook(cells=[new_code_cell("x", id=name, metadata=_marks(name)) for name in ("setup", "rope", "rope-values")])
).encode()


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({f"{NAME}.ipynb": text()}, []),
        ({"作业 最终版.ipynb": text()}, ["the file that was graded is 作业 最终版.ipynb"]),
        ({f"{NAME}.ipynb": text(None), f"{NAME} (1).ipynb": text()}, [f"is {NAME} (1).ipynb", "not graded: 没有作答 | it is blank"]),
        ({f"{NAME}.ipynb": text(), f"{NAME} (1).ipynb": text(None)}, [f"there is also {NAME} (1).ipynb, which was not graded"]),
        ({f"{NAME}.ipynb": b"{", "other.ipynb": text()}, ["is other.ipynb", "the file is broken"]),
        ({f"{NAME}.ipynb": FOREIGN, "other.ipynb": text()}, ["is other.ipynb", "it is another notebook"]),
        ({f"homework/{NAME}.ipynb": text()}, [f"is homework/{NAME}.ipynb"]),
        ({f"{NAME}.ipynb.txt": text()}, [f"is {NAME}.ipynb.txt"]),
        ({"hand in.zip": zipped(**{f"a__{NAME}.ipynb": text(), f"__MACOSX__a__{NAME}.ipynb": b""})}, [f"hand in.zip/a/{NAME}.ipynb"]),
        ({"\udcd7\udcf7\udcd2\udcb5.ipynb": text()}, ["is 作业.ipynb"]),
        ({" [1] .ipynb": text()}, ["is  [1] .ipynb"]),
        ({f"{NAME}.ipynb": text(), "timestamp.txt": "昨天".encode("gbk")}, ["timestamp.txt holds no time and was ignored"]),
    ],
)  # fmt: skip
def test_the_answered_notebook_is_found_and_what_was_chosen_is_said(
    source: Path, folder: Path, files: dict[str, bytes], says: list[str]
) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    found = salvage(folder, source)
    assert found.reason is None
    assert found.notebook.cells[1].source == ANSWER
    assert list(found.notes) == found.notebook.metadata.hero[NOTES]
    assert all(any(part in note for note in found.notes) for part in says)
    assert bool(found.notes) == bool(says)
    "\n".join(found.notes).encode()  # can be written, whatever the bytes of the names


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({f"{NAME}.ipynb": FOREIGN}, "no cell of 05_small is in it: another chapter's?"),
        ({"Untitled.ipynb": nbformat.writes(new_notebook(cells=[new_code_cell("1")])).encode()}, "no cell of 05_small"),
        ({"answers.docx": b"PK", "a.rar": b"Rar!"}, "What was handed in: a.rar, answers.docx"),
        ({}, "there is no notebook file"),
        ({"a.zip": b"PK"}, "a.zip: 解不开 | it cannot be unpacked (BadZipFile)"),
        ({"a.zip": zipped(**{"a.txt": b""})}, "What was handed in: a.zip"),
        ({f"{NAME}.ipynb": b"[[["}, "the file is broken"),
        ({f"{NAME}.ipynb": b'{"cells": {}}'}, "this is no notebook (TypeError)"),
        ({f"{NAME}.ipynb": b" "}, "the file is empty"),
    ],
)
def test_why_there_is_none_is_said_once(source: Path, folder: Path, files: dict[str, bytes], says: str) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    found = salvage(folder, source)
    assert says in (found.reason or "")
    assert len(found.notebook.cells) == 1


def test_a_blank_notebook_is_graded_where_there_is_no_other(source: Path, folder: Path) -> None:
    (folder / f"{NAME}.ipynb").write_bytes(text(None))
    assert salvage(folder, source).notes == ()


def test_a_notebook_without_names_is_known_by_its_text(source: Path, folder: Path) -> None:
    cells = [new_code_cell(cell.source) for cell in notebook().cells]
    (folder / "colab.ipynb").write_text(nbformat.writes(new_notebook(cells=cells)))
    assert salvage(folder, source).reason is None


# Files that are none


def test_only_plain_files_are_seen_and_read(source: Path, folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe")
    for name, target in {"zero": "/dev/zero", "root": "/", "secret.txt": source / f"{NAME}.ipynb", "gone": "x"}.items():
        (folder / name).symlink_to(target)
    (folder / "own.txt").write_text("mine")
    (folder / "data.csv").write_text("not the instructor's")
    (folder / f"{NAME}.html").write_text("in the way of the page")
    (folder / f"{NAME}.ipynb").symlink_to(source / f"{NAME}.ipynb")
    assert [path.name for path in look(folder).files] == [f"{NAME}.html", "data.csv", "own.txt"]
    assert contents(folder, source) == {"own.txt": b"mine"}
    assert salvage(folder, source).reason is not None
    for name in ("pipe", "zero", "root", "secret.txt", "gone"):
        with pytest.raises(OSError, match=r".+"):
            read_plain(folder / name)
    assert look(Path(shutil.copytree(folder, tmp_path / "c", symlinks=True, ignore=lambda *_: ["pipe"]))).left_out == 0


def test_a_folder_that_is_a_link_holds_nothing(source: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(source)
    assert look(tmp_path / "link") == handed_in.HandedIn()


def test_files_have_a_total_and_what_is_over_it_is_noted(source: Path, folder: Path) -> None:
    for name in ("a.bin", "b.bin", "c.bin"):
        with (folder / name).open("wb") as file:
            file.truncate(handed_in.BYTES // 2 + 1)  # sparse: it takes no room of its own
    (folder / "small.txt").write_text("fits")
    (folder / f"{NAME}.ipynb").write_bytes(text())
    assert [path.name for path in learners_own(folder, source)] == ["a.bin", "small.txt"]
    assert "left out, for their size or number: 2 files" in salvage(folder, source).notes[0]


def test_a_crowd_of_files_does_not_hide_the_notebook(
    source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed_in, "FILES", 10)
    for number in range(50):
        (folder / f"{number:03}.txt").touch()
    (folder / f"{NAME}.ipynb").write_bytes(text())
    assert (len(look(folder).files), look(folder).left_out) == (10, 40)
    assert salvage(folder, source).reason is None
    monkeypatch.setattr(handed_in, "LOOKED_AT", 5)
    assert len(look(folder).files) + len(look(folder).notebooks) <= 5


# The time


@pytest.mark.parametrize(
    ("content", "when"),
    [
        (b"2026-02-03 04:05:06 UTC", datetime(2026, 2, 3, 4, 5, 6)),
        (b"2026-02-03 04:05:06.700000 UTC\n", datetime(2026, 2, 3, 4, 5, 6, 700_000)),
        (b"\xef\xbb\xbf2026-02-03", datetime(2026, 2, 3)),
        (b"10000-01-01 00:00:00 UTC", None),
        (b"0001-01-01 00:00:00 +2300", None),
        ("昨天".encode("gbk"), None),
        (b"", None),
        (b"\0", None),
        (b"1" * 2000, None),
        (b"yesterday", None),
        (b"2026-02-03 04:05:06 999999999999", None),
    ],
)
def test_a_time_is_read_or_ignored_with_a_note(folder: Path, content: bytes, when: datetime | None) -> None:
    (folder / "timestamp.txt").write_bytes(content)
    found, note = read_timestamp(folder)
    assert found == when
    assert (note is None) == (when is not None)


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("x", path)]
)
def test_a_time_that_is_no_file_is_ignored(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder / "timestamp.txt")
    assert read_timestamp(folder)[0] is None
    assert "was ignored" in str(read_timestamp(folder)[1])


def test_no_time_is_no_fault(folder: Path) -> None:
    assert read_timestamp(folder) == (None, None)


# The text of a notebook


def test_lines_without_ends_are_joined_as_lines() -> None:
    whole = json.loads(text())
    for cell in whole["cells"]:
        cell["source"] = "".join(cell["source"]).splitlines()
    found, _ = read_notebook(json.dumps(whole).encode())
    assert [cell.source for cell in found.cells] == [cell.source.rstrip("\n") for cell in notebook().cells]


def test_format_3_is_read_with_its_headings() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Title", "metadata": {}},
        {"cell_type": "code", "input": ["a = 1\n", "b = 2"], "language": "python", "outputs": []},
    ]
    found, notes = read_notebook(json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}).encode())
    assert [(cell.cell_type, cell.source) for cell in found.cells] == [("markdown", "## Title"), ("code", "a = 1\nb = 2")]
    assert "nbformat 3" in notes[0]


@pytest.mark.parametrize("piece", ["{}", '{"a":1}', '{"cell_type":"code"}'])
def test_many_values_are_refused_before_objects_are_made_of_them(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CONTAINERS", 50_000)
    content = ('{"cells":[' + ",".join([piece] * 60_000) + "]}").encode()
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="too large"):
        read_notebook(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(content) + (1 << 20)


def test_many_cells_are_refused_before_cells_are_made_of_them() -> None:
    content = ('{"cells":[' + ",".join(["{}"] * 100_000) + "]}").encode()
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="too large"):
        read_notebook(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30 << 20


def test_long_outputs_full_of_brackets_are_no_fault() -> None:
    whole = json.loads(text())
    lines = ["[[0.5, \\\"{1}\\\", 0.25],\n"] * 700_000
    whole["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": lines}]
    content = json.dumps(whole).encode()
    assert content.count(b"[") > reading.CONTAINERS
    found, _ = read_notebook(content)
    assert found.cells[1].source == ANSWER


# Pictures


@pytest.mark.parametrize(
    ("source_text", "pasted", "kept", "noted"),
    [
        ("![x](attachment:image.png)", {"image.png": {"image/png": PIXEL}}, ["image.png"], False),
        ("![x](attachment:图%201.png)", {"图 1.png": {"image/png": [PIXEL]}}, ["图 1.png"], False),
        ("![x](attachment:a.png)", {"a.png": {"image/png": PIXEL}, "b.png": {"image/png": PIXEL}}, ["a.png"], False),
        ("no picture", {"a.png": {"image/png": PIXEL}}, [], False),
        ("![x](attachment:a.svg)", {"a.svg": {"image/svg+xml": PIXEL}}, [], True),
        ("![x](attachment:a.html)", {"a.html": {"text/html": PIXEL}}, [], True),
        ("![x](attachment:a.png)", {"a.png": {"image/png": '"><script>'}}, [], True),
        ("![x](attachment:a.png)", {"a.png": {"image/png": "A" * (reading.PICTURES + 1)}}, [], True),
        ("![x](attachment:a.png)", {"a.png": "?"}, [], True),
        ("![x](attachment:a.png)", ["?"], [], False),
    ],
)
def test_pictures_that_the_text_shows_are_kept(source_text: str, pasted: object, kept: list[str], noted: bool) -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "source": source_text, "attachments": pasted}
    found, notes = read_notebook(json.dumps({"cells": [cell]}).encode())
    assert list(found.cells[0].get("attachments", {})) == kept
    assert bool(notes) == noted
    nbformat.validate(found)


# Copies of a cell


def _pasted(*sources: str | None, named: bool = True) -> NotebookNode:
    """A notebook whose exercise stands there several times, one below the other."""
    whole = notebook(sources[0])
    for number, one in enumerate(sources[1:], 1):
        copy = notebook(one).cells[1]
        metadata = copy.metadata if named else {}
        whole.cells.insert(1 + number, new_code_cell(copy.source, id=f"copy{number}", metadata=metadata))
    return whole


@pytest.mark.parametrize(
    ("whole", "graded", "says"),
    [
        (_pasted(ANSWER, None), [ANSWER], "a blank copy of the cell was not run"),
        (_pasted(None, ANSWER), [ANSWER], "a blank copy of the cell was not run"),
        (_pasted(ANSWER, None, named=False), [ANSWER], "a blank copy of the cell was not run"),
        (_pasted("x = 1", ANSWER), ["x = 1", ANSWER], "of several answered cells the last counts"),
        (_pasted(None), [notebook(None).cells[1].source], ""),
    ],
)
def test_an_answered_cell_beats_a_blank_one(whole: NotebookNode, graded: list[str], says: str) -> None:
    restored, back = restore(whole, _instructor())
    assert back == []
    assert [cell.source for cell in restored.cells[1:-1]] == graded
    named = [cell for cell in restored.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "gelu"]
    assert [cell.source for cell in named] == graded[-1:]
    assert [says in note for note in restored.metadata.hero[NOTES]] == [True] * bool(says)


def test_prose_keeps_its_pictures_through_restoring() -> None:
    whole = notebook()
    pasted = {"a.png": {"image/png": PIXEL}}
    whole.cells.append(new_markdown_cell("![x](attachment:a.png)", id="mine", attachments=pasted))
    restored, _ = restore(whole, _instructor())
    assert restored.cells[-1].attachments == pasted
