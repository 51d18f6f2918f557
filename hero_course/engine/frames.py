"""Frames on a stream socket: a length, then so many bytes."""

from __future__ import annotations

import socket
import struct
import time

__all__ = ["ProtocolError", "receive", "send"]


class ProtocolError(Exception):
    """What came is not what the protocol allows: too large, cut off, or of no known kind."""


def send(connection: socket.socket, payload: bytes) -> None:
    """Send one frame."""
    connection.sendall(struct.pack("<Q", len(payload)) + payload)


def receive(connection: socket.socket, limit: int, deadline: float | None = None) -> bytes:
    """Receive one frame.

    Args:
        connection: a stream socket.
        limit: the largest frame that is accepted, in bytes.
        deadline: the latest time (``time.monotonic``); default: wait for ever.

    Raises:
        EOFError: if the other side is gone.
        TimeoutError: if the frame is not complete in time.
        ProtocolError: if the frame is larger than allowed.
    """
    (size,) = struct.unpack("<Q", _exactly(connection, 8, deadline))
    if size > limit:
        raise ProtocolError(f"a frame of {size} bytes, more than the {limit} allowed")
    return _exactly(connection, size, deadline)


def _exactly(connection: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:  # even if something is there: it may come byte by byte
                raise TimeoutError("the frame is not complete in time")
            connection.settimeout(left)
        try:
            part = connection.recv(min(size - len(parts), 1 << 20))
        except ConnectionError:
            part = b""
        finally:
            if deadline is not None:
                connection.settimeout(None)
        if not part:
            raise EOFError("the other side is gone")
        parts += part
    return bytes(parts)
