"""What crosses between the processes, as bytes: written by `writer`, read by `reader`, of the kinds in `kinds`.

What a worker sends is never unpickled. It is built anew from a few tagged kinds, each checked before it is used.
Anything else that a learner's code returns arrives as an `Opaque`, a type's name and a short text.
"""

from __future__ import annotations

from hero_course.engine.kinds import ITEMS, Opaque, Remote, TooLargeError, opaque
from hero_course.engine.reader import decode
from hero_course.engine.tensors import DTYPES
from hero_course.engine.writer import encode, encode_with_tensors

__all__ = [
    "DTYPES", "ITEMS", "MIME", "Opaque", "Remote", "TooLargeError", "decode", "encode", "encode_with_tensors", "opaque",
]  # fmt: skip

# Text and pictures only: what could run in the browser of whoever reads the notebook is not kept.
MIME = ("text/plain", "text/latex", "image/png", "image/jpeg")
