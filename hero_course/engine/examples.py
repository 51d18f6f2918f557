"""Whether a submission's own code needs the chapter's worked examples, which otherwise are not run when it is graded.

No check stands on a worked example: the build rehearses without them. A learner's code may: by a name that one binds,
by an object of the set-up's that one may change, and by anything if one changes what all code shares, such as torch's
default type. (The state of random numbers is no such thing: each call brings its own.)
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator
from functools import lru_cache

__all__ = ["names_bound", "names_touched", "names_used", "needed"]

# What can reach a name without writing it out.
_ROUNDABOUT = {
    "__import__", "__main__", "In", "Out", "doctest", "eval", "exec", "gc", "get_ipython", "globals", "importlib",
    "inspect", "locals", "sys", "timeit", "vars",
}  # fmt: skip
_SETTER = re.compile(r"(set|use|enable|disable|register)_?\w*")  # of a module: torch.set_default_dtype
_LARGEST = 1 << 20  # characters; nobody looks for names in more


def needed(own: Iterable[str], examples: Iterable[str], setup: Iterable[str] = ()) -> bool:
    """Whether code may depend on what the examples bind or change.

    Args:
        own: the sources of the learner's own cells.
        examples: the sources of worked examples.
        setup: the sources of the cells that were supplied.

    Example:
        >>> needed(["def f(x):\\n    return x * half"], ["half = 0.5"])
        True
        >>> needed(["def f(half):\\n    return half"], ["half = 0.5"]), needed(["eval('ha' + 'lf')"], ["half = 0.5"])
        (False, True)
        >>> needed(["size['d']"], ["size['d'] = 3"], ["size = {}"]), needed(["1 / 3"], ["torch.set_default_dtype(d)"])
        (True, True)
    """
    own, examples = list(own), tuple(examples)
    if sum(map(len, own)) > _LARGEST:
        return True
    try:
        touched = names_touched(examples, tuple(setup))
        used = {name for source in own for name in names_used(source)}
    except Exception:  # no Python: a magic, perhaps; or too deep to look into: nobody knows what it does
        return True
    return "*" in touched or not used.isdisjoint(touched | _ROUNDABOUT)


@lru_cache(maxsize=100)  # a class's submissions share their examples
def names_touched(examples: tuple[str, ...], setup: tuple[str, ...]) -> frozenset[str]:
    """The names that examples bind, and those of the set-up's objects that they mention; ``*`` for whatever there is.

    Raises:
        SyntaxError: if a cell is not Python.

    Example:
        >>> sorted(names_touched(("total = add(size)", "del fun.cache"), ("size = [1]\\nimport fun",)))
        ['*', 'size', 'total']
    """
    bound = {name for source in examples for name in names_bound(source)}
    mentioned = {name for source in examples for name in names_used(source)}
    objects, imported = set(), set()
    for source in (*setup, *examples):
        for symbol in _tables(source).__next__().get_symbols():
            name = symbol.get_name()
            imported |= {name} if symbol.is_imported() else set()
            objects |= {name} if symbol.is_assigned() and not symbol.is_namespace() and source in setup else set()
    own = bound - imported
    shared = any(_changes_what_is_shared(source, own) for source in examples)
    return frozenset(bound | (mentioned & objects - imported) | ({"*"} if shared else set()))


def _changes_what_is_shared(source: str, own: set[str]) -> bool:
    """Whether a cell sets a part of something that is not the examples' own, such as a module, or calls its setters."""
    local = {name.get_name() for table in _tables(source) for name in table.get_symbols() if name.is_local()}
    kept = own | (local - names_bound(source))
    for node in ast.walk(ast.parse(source)):
        changed = isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load)
        setter = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _SETTER.match(node.func.attr)
        if (changed or setter) and _root(node) not in kept:
            return True
    return False


def _root(node: ast.AST) -> str | None:
    """The name that an expression such as ``a.b[0].c()`` begins with."""
    while not isinstance(node, ast.Name):
        node = getattr(node, "func", None) or getattr(node, "value", None)
        if node is None:
            return None
    return node.id


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
