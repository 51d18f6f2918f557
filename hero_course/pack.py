"""Pack a release: the zip that learners get, with the notebook, its edition of the package, and the environment."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from pathlib import Path

import nbformat

from hero_course.edition import EDITION_FOLDER, SHEET, require_edition
from hero_course.errors import CourseError
from hero_course.solutions import find_markers

__all__ = ["pack", "release_folder", "unpack", "write_whole"]

ENVIRONMENT = "environment.yml"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest date that a zip can hold


def pack(root: Path, name: str, lang: str, to: Path | None = None) -> Path:
    """Write ``packs/<name>-<lang>.zip``; the same release gives the same bytes.

    Args:
        root: the course's root.
        name: the chapter's folder name.
        lang: ``zh`` or ``en``.
        to: the folder for the zip; default ``packs/`` of the course.

    Returns:
        The zip's path.

    Raises:
        CourseError: if there is no release, it lacks a file or its edition, or it holds an answer.
    """
    files = _files(root, release_folder(root, name, lang))
    path = (to or root / "packs") / f"{name}-{lang}.zip"
    write_whole(path, _zipped(name, files))
    return path


def unpack(root: Path, name: str, lang: str) -> tuple[Path, bool]:
    """Lay out ``work/<name>-<lang>/`` as a learner gets it; a file that is there already is never replaced.

    Returns:
        The notebook's path, and whether it is new.

    Raises:
        CourseError: as `pack`.
    """
    folder = root / "work" / f"{name}-{lang}"
    notebook = folder / f"{name}.ipynb"
    if os.path.lexists(notebook):
        return notebook, False
    for inner, content in _files(root, release_folder(root, name, lang)).items():
        if not os.path.lexists(folder / inner):
            write_whole(folder / inner, content)
    return notebook, True


def release_folder(root: Path, name: str, lang: str) -> Path:
    """The release of a chapter, fit to be handed out.

    Raises:
        CourseError: if it is missing, lacks its edition, or holds an answer or a hidden check.
    """
    folder = root / "release" / lang / name
    for path in (folder / f"{name}.ipynb", folder / SHEET):
        if not path.is_file():
            raise CourseError(f"no release of {name} in {lang}: {path} is missing. Remedy: run hero build {name}")
    require_edition(folder)
    _refuse_answers(folder)
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _files(root: Path, folder: Path) -> dict[str, bytes]:
    """What a learner gets, by the name inside the zip's one folder."""
    environment = root / ENVIRONMENT
    if not environment.is_file():
        raise CourseError(f"{environment} is missing: learners need it to install. Remedy: restore it")
    paths = [environment, folder / f"{folder.name}.ipynb", folder / SHEET]
    files = {path.name: path.read_bytes() for path in paths}
    for path in (folder / EDITION_FOLDER).glob("*.py"):
        files[f"{EDITION_FOLDER}/{path.name}"] = path.read_bytes()
    return files


def _refuse_answers(folder: Path) -> None:
    texts = [(path, path.read_text(encoding="utf-8")) for path in sorted((folder / EDITION_FOLDER).glob("*.py"))]
    path = folder / f"{folder.name}.ipynb"
    for cell in nbformat.read(path, as_version=4).cells:
        texts.append((path, cell.source))
        stub = cell.metadata.get("hero", {}).get("stub")
        if stub and stub not in cell.source:
            raise CourseError(
                f"{path}: the cell {cell.id!r} holds an answer where its stub should stand, {stub!r}. "
                f"Remedy: run hero build {folder.name}"
            )
    for path, text in texts:
        for line, marker in find_markers(path, text):
            raise CourseError(
                f"{path} holds {marker!r} (line {line}): a release must hold no answer and no hidden check. "
                f"Remedy: run hero build {folder.name}"
            )


def _zipped(name: str, files: dict[str, bytes]) -> bytes:
    """A zip of these files in one folder, with nothing in it that changes from run to run."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner in sorted(files):
            entry = zipfile.ZipInfo(f"{name}/{inner}", _EPOCH)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, files[inner])
    return buffer.getvalue()
