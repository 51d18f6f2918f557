"""Whether a submission's own code needs the chapter's worked examples, which otherwise are not run when it is graded.

No check stands on a worked example: the build rehearses without them. A learner's code may, by a name that one binds.
"""

from __future__ import annotations

import symtable
from collections.abc import Iterable, Iterator
from functools import lru_cache

__all__ = ["names_bound", "names_used", "needed"]

# What can reach a name without writing it out.
_ROUNDABOUT = {
    "__import__", "__main__", "In", "Out", "doctest", "eval", "exec", "gc", "get_ipython", "globals", "importlib",
    "inspect", "locals", "sys", "timeit", "vars",
}  # fmt: skip
_LARGEST = 1 << 20  # characters; nobody looks for names in more


def needed(own: Iterable[str], examples: Iterable[str]) -> bool:
    """Whether code uses a name that the examples bind, or may.

    Args:
        own: the sources of the learner's own cells.
        examples: the sources of worked examples.

    Example:
        >>> needed(["def f(x):\\n    return x * half"], ["half = 0.5"])
        True
        >>> needed(["def f(half):\\n    return half"], ["half = 0.5"]), needed(["eval('ha' + 'lf')"], ["half = 0.5"])
        (False, True)
    """
    own = list(own)
    if sum(map(len, own)) > _LARGEST:
        return True
    try:
        bound = {name for source in examples for name in names_bound(source)}
        used = {name for source in own for name in names_used(source)}
    except Exception:  # no Python: a magic, perhaps; or too deep to look into: nobody knows what it does
        return True
    return "*" in bound or not used.isdisjoint(bound | _ROUNDABOUT)


@lru_cache(maxsize=1000)  # a class's submissions share their examples
def names_bound(source: str) -> frozenset[str]:
    """The names that a cell binds in the notebook; ``*`` if it imports all of a module.

    Raises:
        SyntaxError: if the cell is not Python.

    Example:
        >>> sorted(names_bound("import os.path\\nfor i in range(3):\\n    n = i\\ndef f(a):\\n    b = a"))
        ['f', 'i', 'n', 'os']
    """
    top, *inner = _tables(source)
    mine = {one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()}
    declared = {s.get_name() for table in inner for s in table.get_symbols() if s.is_declared_global()}
    return frozenset(mine | declared | ({"*"} if "import *" in source else set()))


def names_used(source: str) -> set[str]:
    """The names that a cell may take from the notebook.

    Raises:
        SyntaxError: if the cell is not Python.

    Example:
        >>> sorted(names_used("def f(a):\\n    b = a + c\\n    return g(b)\\nn += 1"))
        ['c', 'f', 'g', 'n']
    """
    # outside functions whatever has a name may be the notebook's: n += 1, say, only counts as assigned
    return {
        one.get_name()
        for table in _tables(source)
        for one in table.get_symbols()
        if table.get_type() != "function" or one.is_global()
    }


def _tables(source: str) -> Iterator[symtable.SymbolTable]:
    """The tables of a cell and of all scopes in it, the cell's own first."""
    waiting = [symtable.symtable(source, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        yield table
        waiting.extend(table.get_children())
