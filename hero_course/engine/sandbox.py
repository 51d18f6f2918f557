"""What surrounds learners' code on Linux: bubblewrap around the warm parent, namespaces of its own for each child.

The warm parent sees the system and Python read-only, the chapter's edition, and this package's few modules: no
network, no home, no course. Each child moves into namespaces of its own and gets fresh, small file systems in memory.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import socket
import sys
from pathlib import Path

from hero_course.engine import PACKAGE
from hero_course.engine.limits import Limits
from hero_course.engine.syscalls import filter_system_calls

__all__ = [
    "HOME", "MissingSandboxError", "bubblewrap", "cross_over", "drop_root", "find_bubblewrap", "limit_memory",
    "limit_resources", "look_around",
]  # fmt: skip

HOME, CACHE, CODE, EDITION = "/hero/work", "/hero/cache", "/hero/code", "/hero/edition"
NOBODY = 65534  # whom learners' code runs as where root grades
_UNSHARE = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000  # user mnt pid net ipc uts
_NOSUID_NODEV, _BIND = 2 | 4, 4096
_READABLE = ("cpuinfo", "meminfo")  # of /proc, for libraries that look at the machine

_libc = ctypes.CDLL(None, use_errno=True)


class MissingSandboxError(Exception):
    """bubblewrap is not installed, and nobody said that this is all right."""


def find_bubblewrap() -> str:
    """The program ``bwrap``.

    Raises:
        MissingSandboxError: if there is none.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise MissingSandboxError(
            "bubblewrap (the program bwrap) is missing, so learners' code would run without a sandbox. Remedy: install "
            "it, or allow this with hero grade --without-sandbox or HERO_SANDBOX=none"
        )
    return program


def bubblewrap(code: Path, edition: Path, limits: Limits) -> list[str]:
    """The command line before the warm parent's own.

    Args:
        code: a folder with the engine's modules.
        edition: the chapter's edition of the package and the files beside it.
        limits: for the size of what can be written.

    Raises:
        MissingSandboxError: if there is no ``bwrap``.
    """
    words = [find_bubblewrap(), "--die-with-parent", "--new-session", "--clearenv"]
    words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    words += ["--cap-drop", "ALL"]
    if os.getuid() == 0:  # the warm parent then becomes nobody: root is bound by no limit on processes
        words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        words += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    words += ["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp", "--dir", HOME]
    words += ["--size", str(16 << 20), "--perms", "0777", "--tmpfs", CACHE]
    for path in _system():
        words += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/sys/devices/system/cpu"):
        words += ["--ro-bind-try", path, path]
    for path in _python():
        for parent in reversed(Path(path).parents[:-1]):
            words += ["--perms", "0755", "--dir", str(parent)]  # else only root can pass through them
        words += ["--ro-bind", path, path]
    words += _hidden_packages()
    words += ["--ro-bind", str(code), CODE, "--ro-bind", str(edition), EDITION]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", EDITION]


def _system() -> list[str]:
    return [path for path in ("/usr", "/bin", "/sbin", "/lib", "/lib64") if os.path.lexists(path)]


def _python() -> list[str]:
    """The folders of this Python and of its packages, but for what is in ``/usr`` anyway."""
    found = {os.path.realpath(sys.base_prefix), sys.base_prefix, sys.prefix, os.path.realpath(sys.prefix)}
    return sorted(path for path in found if not path.startswith("/usr/") and path != "/usr")


def _hidden_packages() -> list[str]:
    """Put nothing in the place of installed copies of the course's own packages: they hold the answers."""
    words: list[str] = []
    for folder in {path for path in sys.path if path.startswith(sys.prefix)}:
        for name in (PACKAGE, "hero_course"):
            if os.path.isdir(os.path.join(folder, name)):
                words += ["--tmpfs", os.path.join(folder, name)]
    return words


def drop_root() -> None:
    """Become nobody, if this is root."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    _check(_libc.prctl(4, 1, 0, 0, 0))  # dumpable, so that /proc/self may be written


def cross_over(report: int, limits: Limits) -> None:
    """Move this forked child into namespaces of its own; returns in a grandchild, which is process 1 there.

    Args:
        report: a file descriptor that the grandchild's number is written to, as its grandparent sees it.
        limits: for the sizes of the file systems.
    """
    user, group = os.getuid(), os.getgid()
    _check(_libc.unshare(_UNSHARE))
    for name, text in (("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    child = os.fork()
    if child:
        os.write(report, str(child).encode())
        os._exit(0)
    os.close(report)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # if memory runs out, this goes first
    _own_files(limits)
    _drop_capabilities()
    filter_system_calls()
    os.chdir(HOME)


def _own_files(limits: Limits) -> None:
    """Fresh file systems in memory, and a /proc that shows no process."""
    _mount("tmpfs", HOME, f"size={limits.disk_bytes},nr_inodes=4096,mode=700,uid=1000,gid=1000")
    _mount("tmpfs", CACHE, f"size={4 << 20},nr_inodes=512,mode=700,uid=1000,gid=1000")
    _mount("tmpfs", "/dev/shm", f"size={limits.disk_bytes // 4},nr_inodes=512,mode=700,uid=1000,gid=1000")
    stage = os.path.join(CACHE, "proc")
    os.mkdir(stage)
    _mount("tmpfs", stage, "size=64k,nr_inodes=16,mode=555")
    for name in _READABLE:
        path = os.path.join(stage, name)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o444))
        _check(_libc.mount(f"/proc/{name}".encode(), path.encode(), None, _BIND, None))
    _check(_libc.mount(stage.encode(), b"/proc", None, _BIND | 16384, None))  # with what is mounted in it


def _mount(kind: str, place: str, options: str) -> None:
    _check(_libc.mount(kind.encode(), place.encode(), kind.encode(), _NOSUID_NODEV, options.encode()))


def _drop_capabilities() -> None:
    """Give up every capability that the new user namespace gave."""
    _check(_libc.prctl(38, 1, 0, 0, 0))  # no new privileges
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, sets))


def limit_memory(limits: Limits) -> None:
    """Set what memory each process, this one and its children, may use."""
    _limit((resource.RLIMIT_AS, limits.memory_bytes))


def limit_resources(limits: Limits) -> None:
    """Set what this process and its children may use."""
    limit_memory(limits)
    _limit(
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    )


def _limit(*limits: tuple[int, int]) -> None:
    for name, most in limits:
        _, hard = resource.getrlimit(name)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(name, (value, value))


def look_around(absent: list[str]) -> str | None:
    """What is wrong with the sandbox, seen from inside; None if it is on.

    Args:
        absent: paths that must not be seen.
    """
    if os.getpid() != 1:
        return "not process 1 of a namespace of its own"
    if [name for _, name in socket.if_nameindex()] not in ([], ["lo"]):
        return "there is a network"
    seen = [path for path in absent if os.path.lexists(path)]
    if seen:
        return f"{seen[0]} can be seen"
    if any(name.isdigit() for name in os.listdir("/proc")):
        return "other processes can be seen"
    for folder in ("/", "/tmp", "/usr", "/dev", EDITION, CODE):
        if os.access(folder, os.W_OK):
            return f"{folder} can be written"
    if _libc.unshare(0) == 0:  # asks for nothing; refused all the same where the filter is on
        return "system calls are not filtered"
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _check(_libc.capget(header, sets))
    return "capabilities are left" if any(sets) else None


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
