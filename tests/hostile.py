"""Broken and hostile submissions, as the second table of docs/grading.md describes them.

A submission is a folder: its files by name. The answers are right but for what the submission is about.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from submissions import Class

Files = dict[str, bytes | Path]  # by name; a path where one is a link
Make = Callable[[Class], Files]


def files(notebook: NotebookNode, **more: str) -> Files:
    named = {name.replace("__", "."): text.encode() for name, text in more.items()}
    return {"05_decoder_block.ipynb": nbformat.writes(notebook).encode(), **named}


def with_cell(code: str, **more: str) -> Make:
    """Right answers, and a cell of the learner's own below the set-up."""

    return lambda room: files(_with_cell(room.answered(room.right), code), **more)


def _with_cell(notebook: NotebookNode, code: str) -> NotebookNode:
    notebook.cells.insert(at(notebook, "setup") + 1, new_code_cell(code, id="mine"))
    return notebook


def with_gelu(body: str, above: str = "", **more: str) -> Make:
    """Right answers but for gelu."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return lambda room: files(
        room.answered(room.right | {"gelu": f"{above}\n@replaces(model)\ndef gelu(x):\n{lines}"}), **more
    )


def wrong_gelu_and(code: str, **more: str) -> Make:
    """A gelu that is the identity, and code on top that is to get it full marks."""
    return lambda room: files(
        _with_cell(room.answered(room.right | {"gelu": "@replaces(model)\ndef gelu(x):\n    return x"}), code), **more
    )


def changed(change: Callable[[NotebookNode], None], **answers: str) -> Make:
    """Right answers, or these, in a notebook that was changed."""

    def make(room: Class) -> Files:
        notebook = room.answered(room.right | answers)
        change(notebook)
        return files(notebook)

    return make


def text(change: Callable[[str], bytes], name: str = "05_decoder_block.ipynb") -> Make:
    """Right answers in a file whose bytes were changed."""
    return lambda room: {name: change(files(room.answered(room.right))["05_decoder_block.ipynb"].decode())}


def at(notebook: NotebookNode, key: str) -> int:
    return next(n for n, cell in enumerate(notebook.cells) if cell.id == key)


def _double(key: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        twin = nbformat.from_dict(json.loads(json.dumps(notebook.cells[at(notebook, key)])))
        twin.id = "twin"
        notebook.cells.insert(at(notebook, key), twin)

    return change


def _retype(key: str, new: Callable[..., NotebookNode]) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        old = notebook.cells[at(notebook, key)]
        notebook.cells[at(notebook, key)] = new(old.source, id=key, metadata=old.metadata)

    return change


def _mark(key: str, **marks: object) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        notebook.cells[at(notebook, key)].metadata.setdefault("nbgrader", {}).update(marks)

    return change


def _tag(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata["tags"] = ["skip-execution"]


def _delete(*keys: str) -> Callable[[NotebookNode], None]:
    def change(notebook: NotebookNode) -> None:
        notebook.cells = [cell for cell in notebook.cells if cell.id not in keys]

    return change


def _no_ids(content: str) -> bytes:
    found = json.loads(content)
    for cell in found["cells"]:
        cell.pop("id")
    return json.dumps(found | {"nbformat_minor": 4}).encode()


def _kernel(spec: dict[str, str] | None) -> Callable[[str], bytes]:
    def change(content: str) -> bytes:
        found = json.loads(content)
        found["metadata"] = {"kernelspec": spec} if spec else {}
        return json.dumps(found).encode()

    return change


def _format_3(content: str) -> bytes:
    cells = []
    for cell in json.loads(content)["cells"]:
        same = {"cell_type": cell["cell_type"], "metadata": cell["metadata"]}
        code = {"input": cell["source"], "language": "python", "outputs": [], "collapsed": False}
        cells.append(same | (code if cell["cell_type"] == "code" else {"source": cell["source"]}))
    whole = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": cells, "metadata": {}}],
    }
    return json.dumps(whole).encode()


def _conflict(content: str) -> bytes:
    lines = content.splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if '"execution_count"' in line)
    ours, theirs = lines[place], lines[place].replace("null", "7")
    return "".join(
        [*lines[:place], "<<<<<<< HEAD\n", ours, "=======\n", theirs, ">>>>>>> branch\n", *lines[place + 1 :]]
    ).encode()


def _widgets(content: str) -> bytes:
    found = json.loads(content)
    found["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": "broken"}}
    return json.dumps(found).encode()


def _two(room: Class) -> Files:
    right = files(room.answered(room.right))
    return right | {"05_decoder_block (1).ipynb": files(room.answered({}))["05_decoder_block.ipynb"]}


def _flood(room: Class) -> Files:
    notebook = room.answered(room.right)
    notebook.cells += [new_code_cell("print('x' * 1_000_000)", id=f"flood{number}") for number in range(20)]
    return files(notebook)


def _crowd(room: Class) -> Files:
    """An untouched example many times over."""
    notebook = room.answered(room.right)
    notebook.cells += [
        nbformat.from_dict(notebook.cells[at(notebook, "warm-up")] | {"id": f"c{n}"}) for n in range(20_000)
    ]
    return files(notebook)


def _half_emoji(content: str) -> bytes:
    found = json.loads(content)
    cell = next(cell for cell in found["cells"] if cell["cell_type"] == "code")
    return json.dumps(
        found | {"cells": [cell | {"id": "mine", "source": "smile = '\ud83d'"}, *found["cells"]]}
    ).encode()


def beside(**more: bytes | Path) -> Make:
    """Right answers, and these files beside them."""
    return lambda room: (
        files(room.answered(room.right)) | {name.replace("__", "."): what for name, what in more.items()}
    )


def answers(**changed: str) -> Make:
    """Right answers but for these."""
    return lambda room: files(room.answered(room.right | changed))


INSTRUCTORS = Path("../../../source/zh/05_decoder_block/05_decoder_block.ipynb")
WORKER = """
import gc, struct, time
from hero_course.engine.frames import send
from hero_course.engine.protocol import encode
line = next(one for one in gc.get_objects() if type(one).__name__ == "Worker")._connection
"""
DRIP = (
    WORKER
    + """
def drip():
    line.sendall(struct.pack("<Q", 10_000_000))
    while True:
        try:
            while True:
                line.sendall(b"x")
                time.sleep(0.0003)
        except OSError:
            raise
        except BaseException:
            pass
"""
)
ROUND_THE_LIMITS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
tried = {
    "namespace": libc.unshare(0x10000000), "memory file": libc.memfd_create(b"x", 0), "key": libc.syscall(248, b"user", b"x", b"y", 1, -3),
    "shared": libc.shmget(1, 1 << 20, 0o1666), "clone": libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0),
}
print("went through:", [name for name, result in tried.items() if result >= 0])
"""
ODD_PRESENT = """@replaces(TransformerBlock)
def forward(self, hidden, past_key_value=None, use_cache=False):
    a, present = self.attention(self.ln_attention(hidden), past_key_value, use_cache)
    hidden = hidden + a
    return hidden + self.feedforward(self.ln_feedforward(hidden)), (*present, object()) if present else None
"""
ZEROES = """@replaces(LayerNorm)
def forward(self, hidden):
    for one in (self.weight, self.bias, hidden):
        one.data.zero_()
    return hidden.clone()
"""
LIAR = """
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in ("__le__", "le", "all", "any", "equal", "allclose"):
            return torch.tensor(True) if name != "equal" else True
        return super().__torch_function__(func, types, args, kwargs or {})
"""
FRAMES = """
import os, socket, struct
from hero_course.engine.protocol import encode
good = encode({"to": 0, "value": torch.zeros(3), "changed": {}, "drew": False, "grad": [False]})
for fd in range(3, 64):
    try:
        for _ in range(50):
            os.write(fd, struct.pack("<Q", len(good)) + good)
    except OSError:
        pass
"""
AT_CALL = "def frames():\n" + "".join(f"    {line}\n" for line in FRAMES.strip().splitlines())
PICKLE = """
class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit",))
    def __eq__(self, other):
        return True
    shape = (3,)
    dtype = torch.float64
"""
EDITION = "EDITION = '05_decoder_block'\n"
# Looks for a line of a hidden check in memory, for files of the course, for other processes, and for a network.
SPY = """
import gc, os, socket, sys
FIRST, THEN = "linspace(-4, 4, ", "33"  # never in one text, else it finds itself
def wanted(one):
    text = one if type(one) is str else one.decode(errors="replace")
    return any(part.startswith(THEN) for part in text.split(FIRST)[1:])
def texts_in_memory():
    gc.unfreeze()
    things, frame = gc.get_objects(), sys._getframe()
    while frame:
        things += frame.f_locals.values()
        frame = frame.f_back
    for _ in range(4):  # what holds texts alone is not tracked: it is found in what holds it
        yield from (one for one in things if type(one) in (str, bytes))
        parts = gc.get_referents(*things)
        codes = [one for one in parts if type(one).__name__ == "code"]
        parts += [one for code in codes for one in code.co_consts]
        things = [one for one in parts if not gc.is_tracked(one)]
seen = {str(one)[:40] for one in texts_in_memory() if wanted(one)}
files = []
for place in ("COURSE", "/work", "/root", "/home", "/proc", "/tmp", "/hero"):
    for folder, _, names in os.walk(place):
        if not folder.startswith((sys.prefix, sys.base_prefix)):
            files += [name for name in names if name.endswith((".ipynb", ".db"))]
print("SEEN", sorted(seen), "FILES", sorted(set(files)), "PROCESSES", [n for n in os.listdir("/proc") if n.isdigit()])
print("NETWORK", [name for _, name in socket.if_nameindex() if name != "lo"])
"""


def spying(room: Class) -> Files:
    return with_cell(SPY.replace("COURSE", str(room.course)))(room)


SURVIVAL: dict[str, Make] = {
    "endless_loop": with_gelu("while True:\n    pass"),
    "endless_loop_that_catches": with_gelu("while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"),
    "endless_cell": with_cell("while True:\n    pass"),
    "endless_output": with_cell("for _ in range(200):\n    print('x' * 1_000_000)"),
    "os_exit": with_cell("import os\nos._exit(0)"),
    "os_exit_in_gelu": with_gelu("import os\nos._exit(0)"),
    "sys_exit": with_cell("import sys\nsys.exit(1)"),
    "sys_exit_in_gelu": with_gelu("raise SystemExit"),
    "killed": with_cell("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nos.abort()"),
    "segfault": with_cell("import ctypes\nctypes.string_at(0)"),
    "segfault_in_gelu": with_gelu("import ctypes\nctypes.string_at(0)"),
    "memory_bomb": with_cell("kept = []\nwhile True:\n    kept.append(bytearray(1 << 26))"),
    "fork_bomb": with_cell("import os\nwhile True:\n    os.fork()"),
    "disk_filler": with_cell("for n in range(40):\n    with open(f'{n}.bin', 'wb') as file:\n        file.write(bytes(1 << 24))"),
    "deleted_cells": changed(_delete("setup", "gelu-values", "gelu-tails", "block-cache")),
    "duplicated_check": changed(_double("gelu-values")),
    "duplicated_exercise": changed(_double("block")),
    "retyped_check": changed(_retype("gelu-values", new_raw_cell)),
    "retyped_exercise": changed(_retype("gelu", new_markdown_cell)),
    "renamed_check": changed(_mark("gelu-values", grade_id="mine-now")),
    "renamed_exercise": changed(_mark("gelu", grade_id="mine-now")),
    "foreign_metadata": changed(_mark("opening", grade_id="new", grade=True, points=100, locked=False, schema_version=1)),
    "missing_ids": text(_no_ids),
    "nbformat_3": text(_format_3),
    "foreign_kernel": text(_kernel({"name": "ir", "display_name": "R", "language": "R"})),
    "missing_kernel": text(_kernel(None)),
    "renamed_notebook": text(str.encode, "作业 最终版.ipynb"),
    "two_notebooks": _two,
    "empty_file": text(lambda content: b""),
    "broken_file": text(lambda content: content[:5000].encode()),
    "no_notebook": text(lambda content: b"see mail", "answers.txt"),
    "bom": text(lambda content: b"\xef\xbb\xbf" + content.encode()),
    "gbk": text(lambda content: json.dumps(json.loads(content), ensure_ascii=False).encode("gb18030")),
    "conflict_markers": text(_conflict),
    "input": with_cell("name = input('who? ')"),
    "stderr": with_gelu("import sys, warnings\nwarnings.warn('x')\nprint('y', file=sys.stderr)\nreturn x * (1 + torch.erf(x / math.sqrt(2))) / 2"),
    "widget_state": text(_widgets),
    "conflict_flood": text(lambda content: b"<<<<<<<\n=======\n" * 20_000),
    "long_integer": text(lambda content: content.replace("{", '{"x": ' + "1" * 5000 + ", ", 1).encode()),
    "too_many_cells": _crowd,
    "deep_code": with_cell("-" * 20_000 + "1"),
    "half_emoji": text(_half_emoji),
    "links": beside(a=INSTRUCTORS, b=Path("/dev/zero"), c=Path("/"), d=Path("nowhere")),
    "name_in_gbk": beside(**{"\udcd7\udcf7\udcd2\udcb5.txt": b"x"}),
    "file_for_a_folder": beside(hero_transformer=b"x"),
    "output_of_many_cells": _flood,
    "many_displays": with_cell("from IPython.display import display\nfor n in range(30_000):\n    display(n)"),
    "broken_formula": changed(lambda notebook: notebook.cells.insert(0, new_markdown_cell("$\\frac{1$ and ${{{$"))),
    "odd_prediction": answers(prediction_count="prediction_count = {b'x': torch.zeros(20 << 20)}"),
    "endless_prediction": answers(prediction_count="class P:\n    def __repr__(self):\n        while True:\n            pass\nprediction_count = P()"),
    "numpy_prediction": answers(prediction_count="import numpy\nprediction_count = numpy.int64(424)", prediction_variance="import numpy\nprediction_variance = numpy.float32(0.5)"),
    "odd_present": answers(block=ODD_PRESENT),
    "odd_frame": with_cell(WORKER + "send(line, encode({'outputs': [{'output_type': 'stream', 'name': 'stdout', 'text': 10**9000}]}))"),
    "byte_by_byte": with_gelu("drip()", DRIP),
    "example_read_in_a_class": with_gelu("return x * (1 + torch.erf(x / math.sqrt(2))) / 2", "class Mine:\n    EPS = EPS\n"),
    "example_added_to": with_gelu("return x * (1 + torch.erf(x / math.sqrt(2))) / 2", "pair += [1.0]\n"),
    "学习 者 one": with_cell("print('名字里有空格')"),
}  # fmt: skip

FORGERIES: dict[str, Make] = {
    "forge_ast": wrong_gelu_and(
            "import ast\nclass Drop(ast.NodeTransformer):\n    def visit_With(self, node):\n        return ast.Pass()\n"
            "get_ipython().ast_transformers.append(Drop())"
        ),
    "forge_run_cell": wrong_gelu_and(
            "shell = get_ipython()\nold = shell.run_cell\nshell.run_cell = lambda code, **more: old('pass', **more)\n"
            "if hasattr(shell, 'kernel'):\n    async def run(code, *a, **k):\n        return {'status': 'ok', 'execution_count': 1, 'payload': [], 'user_expressions': {}}\n"
            "    shell.kernel.do_execute = run"
        ),
    "forge_abs": wrong_gelu_and("import builtins\nbuiltins.abs = lambda x: 0\ntorch.Tensor.abs = lambda self: self * 0"),
    "forge_allclose": wrong_gelu_and("torch.allclose = torch.equal = lambda *a, **k: True\ntorch.Tensor.__le__ = lambda a, b: torch.ones_like(a, dtype=torch.bool)"),
    "forge_eq": with_gelu("return Same()", "class Same:\n    shape = (3,)\n    def __eq__(self, other):\n        return True\n    def __getitem__(self, n):\n        return self\n    def __sub__(self, other):\n        return 0"),
    "forge_torch_py": wrong_gelu_and("", torch__py="raise SystemExit", hero_transformer__py=EDITION, math__py="erf = None"),
    "forge_tag": changed(_tag, gelu="@replaces(model)\ndef gelu(x):\n    return x"),
    "forge_displayhook": with_gelu("get_ipython().displayhook(2.0)\nreturn x"),
    "forge_subclass": with_gelu("return x.clone().as_subclass(Liar)", LIAR),
    "forge_frames": with_gelu("return x", FRAMES),
    "forge_answer": with_gelu("frames()\nreturn x", AT_CALL),
    "forge_pickle": with_gelu("return Bomb()", PICKLE),
    "forge_checks": wrong_gelu_and(
            "import hero_transformer.checks as hc, hero_transformer.exercise as he\nhc.checks.close = lambda *a, **k: None\n"
            "hc.checks.__exit__ = lambda *a: True\nhe.BARRED.clear()\nchecks = hc.checks"
        ),
    "forge_exception": with_gelu("raise GraderFault('let me through')", "class GraderFault(BaseException):\n    pass\nclass CheckFailed(StopIteration):\n    pass"),
    "forge_metadata": changed(_mark("gelu-values", grade=False, points=50, solution=True, locked=False), gelu="@replaces(model)\ndef gelu(x):\n    return x"),
    "forge_zero": with_gelu("x.zero_()\nreturn x"),
    "forge_weights": answers(layer_norm=ZEROES),
    "forge_link": lambda room: {"05_decoder_block.ipynb": INSTRUCTORS},
    "round_the_limits": with_cell(ROUND_THE_LIMITS),
    "spy": spying,
}  # fmt: skip
