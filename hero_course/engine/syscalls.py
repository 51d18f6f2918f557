"""A filter for system calls, on top of the sandbox: what could leave something behind or go round its limits.

Namespaces of a learner's own would bring file systems of any size; the kernel's keys, shared memory by number and
files without a name are memory that no limit counts. Sockets are those that a network namespace holds. A worker stays
on its processor. The rest needs privileges, or is a large part of the kernel.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

__all__ = ["filter_system_calls"]

# For each machine: its number, and those of the calls.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_REFUSED = {
    "unshare": (272, 97), "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194),
    "msgget": (68, 186), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "sched_setaffinity": (203, 122),
}  # fmt: skip
_SOCKETS = {"socket": (41, 198), "socketpair": (53, 199)}
_FAMILIES, _NETLINK, _ROUTE = (1, 2, 10), 16, 0  # local, IPv4, IPv6; of netlink what lists a namespace's devices
_CLONE, _CLONE3, _X32, _NEWUSER = (56, 220), (435, 435), 0x40000000, 0x10000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_system_calls() -> None:
    """Put the filter on this process and all that it will start; nobody can take it off.

    Raises:
        OSError: if there is no filter for this machine, or the kernel takes none.
    """
    if platform.machine() not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no filter of system calls for {platform.machine()}")
    code = b"".join(struct.pack("<HBBI", *step) for step in _steps(*_MACHINES[platform.machine()]))
    program = _Program(len(code) // 8, code)
    if _libc.prctl(38, 1, 0, 0, 0) or _libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"no filter of system calls: {os.strerror(number)}")


def _steps(machine: int, column: int) -> list[tuple[int, int, int, int]]:
    """The filter's steps: code, how many to jump over if so, and if not, and a value."""
    refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), refuse, (_LOAD, 0, 0, 0), (_AT_LEAST, 0, 1, _X32), refuse]
    for numbers in _REFUSED.values():
        steps += [(_EQUAL, 0, 1, numbers[column]), refuse]
    families = _families()
    for numbers in _SOCKETS.values():
        steps += [(_EQUAL, 0, len(families), numbers[column]), *families]
    # its flags stand in memory, where a filter cannot look; without it, libraries use clone
    steps += [(_EQUAL, 0, 1, _CLONE3[column]), (_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    steps += [(_EQUAL, 0, 3, _CLONE[column]), (_LOAD, 0, 0, 16), (_ANY_BIT, 0, 1, _NEWUSER), refuse]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _families() -> list[tuple[int, int, int, int]]:
    """The steps that end a call for a socket: allowed for a few families, and for one protocol of netlink's."""
    allowed, refused = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | errno.EAFNOSUPPORT)
    steps = [(_LOAD, 0, 0, 16)]  # the family
    for family in _FAMILIES:
        steps += [(_EQUAL, 0, 1, family), allowed]
    return [*steps, (_EQUAL, 0, 2, _NETLINK), (_LOAD, 0, 0, 32), (_EQUAL, 1, 0, _ROUTE), refused, allowed]
