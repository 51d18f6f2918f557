"""What must be right before anybody's work is touched: the sandbox, the gradebook, and the folders to write to."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from nbgrader.converters.base import NbGraderException
from sqlalchemy import create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from hero_course.engine.execute import HeroExecute, run_with
from hero_course.engine.salvage import SalvagingExporter
from hero_course.engine.sandbox import MissingSandboxError, find_bubblewrap
from hero_course.errors import CourseError

__all__ = ["ReadyExporter", "require_folders", "require_gradebook", "require_sandbox", "sqlite_file"]

PATIENCE = 5.0  # seconds for another program to finish what it writes into the gradebook
ROOM = 1 << 20  # bytes that must be free


class ReadyExporter(SalvagingExporter):
    """The exporter of nbgrader's autograde, made once a command, before the first submission is touched."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.parent is not None:
            try:
                if not run_with.is_on():
                    require_sandbox(HeroExecute(config=self.config).sandbox)
                require_gradebook(self.parent.coursedir.db_url)
            except CourseError as error:
                self.log.error(str(error))
                raise NbGraderException(str(error)) from error


def require_sandbox(kind: str) -> None:
    """Refuse to go on where the sandbox is wanted and does not work.

    Raises:
        CourseError: what is wrong with it.
    """
    if kind == "bubblewrap":
        try:
            _try_bubblewrap(find_bubblewrap())
        except MissingSandboxError as error:
            raise CourseError(str(error)) from None


@cache
def _try_bubblewrap(program: str) -> None:
    """Let it make the kind of namespaces that grading needs: in many containers it may not."""
    words = [program, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--cap-drop", "ALL"]
    words += [] if os.getuid() == 0 else ["--unshare-user"]
    done = subprocess.run([*words, "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise CourseError(
            f"bubblewrap does not work here: {said}. Remedy: allow user namespaces, or go on without it with "
            "hero grade --without-sandbox or HERO_SANDBOX=none"
        )


def require_gradebook(url: str, write: bool = True, patience: float | None = None) -> None:
    """Refuse a gradebook that cannot be used; one that is not there yet is all right.

    Args:
        url: its database.
        write: whether it must be free for writing.
        patience: seconds to wait for another program.

    Raises:
        CourseError: what is wrong with it.
    """
    path = sqlite_file(url)
    if path is None:
        _require_server(url)
    elif path.exists():
        _require_file(path, write, PATIENCE if patience is None else patience)


def sqlite_file(url: str) -> Path | None:
    """The file of a gradebook in SQLite; None for another database.

    Raises:
        CourseError: if it is no URL of a database.
    """
    place = _parsed(url)
    return Path(place.database or "") if place.drivername.startswith("sqlite") else None


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except SQLAlchemyError:
        raise CourseError(f"HERO_DB: expected a database's URL, postgresql://user@host/name, got {url!r}") from None


def _require_file(path: Path, write: bool, patience: float) -> None:
    remedy = "restore it from a copy, or move it away to begin a new one"
    if path.is_file() and not path.stat().st_size:
        raise CourseError(f"the gradebook {path} is an empty file. Remedy: {remedy}")
    try:
        with closing(sqlite3.connect(path, timeout=patience)) as database:
            database.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            database.rollback()
    except sqlite3.OperationalError as error:
        raise CourseError(
            f"the gradebook {path} cannot be used: {error}. Remedy: end the program that uses it, or make it writable"
        ) from None
    except sqlite3.DatabaseError as error:
        raise CourseError(f"the gradebook {path} is damaged: {error}. Remedy: {remedy}") from None
    if not {"grade", "student"} <= tables:
        raise CourseError(f"{path} is no gradebook of nbgrader. Remedy: {remedy}")


def _require_server(url: str) -> None:
    try:
        engine = create_engine(url)
        engine.connect().close()
        engine.dispose()
    except (SQLAlchemyError, ImportError) as error:
        said = str(error).strip().splitlines()[0]
        raise CourseError(f"HERO_DB: the gradebook {_parsed(url)!r} does not answer: {said}") from None


def require_folders(*folders: Path) -> None:
    """Refuse folders in which nothing can be written, or on a disk that is full.

    Raises:
        CourseError: which one, and why.
    """
    for folder in folders:
        try:
            folder.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".room-") as file:
                _take_room(file.fileno())
        except OSError as error:
            said = f"nothing can be written to {folder}: {error.strerror}"
            raise CourseError(f"{said}. Remedy: make room, or allow it") from None


def _take_room(file: int) -> None:
    try:
        os.posix_fallocate(file, 0, ROOM)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that cannot say
            raise
