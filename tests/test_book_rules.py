"""The rules of the book, held on the folders as they are built and as they are committed."""

from __future__ import annotations

import ast
import json
import re
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
import yaml

from hero_course.chapter import LANGUAGES, read_chapter
from hero_course.course import read_chapters
from hero_course.prose import formulas
from hero_course.quantities import check_claims_shown, check_quantities
from hero_course.solutions import find_solutions

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "chapters").glob("*/chapter.md"))
# Which chapter introduces a module; 0 for those that notebooks use in every chapter.
INTRODUCED = {
    "arguments": 0, "tensor_arguments": 0, "config": 0, "diagnosis": 0, "comparison": 0, "failure": 0, "exercise": 0,
    "checks": 0, "doubles": 0, "stand_ins": 0, "barred": 0, "__init__": 99,
    "token_files": 1, "token_merging": 1, "token_pieces": 1, "token_training": 1, "tokenizer": 1, "embedding": 2,
    "position": 3, "attention": 4, "model": 5,
    "gradients": 6, "gpt2": 7, "ledger": 7, "loss": 7, "training": 8, "generation": 9, "evaluation": 10,
}  # fmt: skip


def _notebook(folder: Path, kind: str, lang: str, name: str) -> nbformat.NotebookNode:
    path = folder / kind / (f"{name}/{lang}.ipynb" if kind == "chapters" else f"{lang}/{name}/{name}.ipynb")
    return nbformat.read(path, as_version=4)


# Rule 1


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                module = f"hero_transformer.{module}" if module else "hero_transformer"
            found |= {f"{module}.{alias.name}" for alias in node.names} | {module}
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "hero_transformer").glob("*.py")), ids=lambda path: path.name)
def test_package_imports_only_torch_numpy_and_what_came_before(path: Path) -> None:
    allowed = {"torch", "numpy", "hero_transformer"} | set(sys.stdlib_module_names)
    allowed |= {"regex"} if path.stem == "token_pieces" else set()
    allowed |= {"IPython"} if path.stem in ("exercise", "checks") else set()
    for name in _imports(path):
        head, _, rest = name.partition(".")
        assert head in allowed, f"{path.name} imports {name}"
        module = rest.partition(".")[0]
        if head == "hero_transformer" and module in INTRODUCED:
            assert INTRODUCED[module] <= INTRODUCED[path.stem], f"{path.name} imports {name} of a later chapter"


def test_course_is_not_imported_by_the_package_or_a_chapter() -> None:
    for path in [*ROOT.glob("hero_transformer/*.py"), *ROOT.glob("chapters/*/*.py"), *ROOT.glob("chapters/*/*.md")]:
        assert not re.search(r"^\s*(import|from) hero_course", path.read_text(encoding="utf-8"), re.MULTILINE), path


# Rule 2


def _bodies(code: str) -> list[str]:
    """Every run of statements in the code, as syntax trees without positions or docstrings."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Module)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            found.append("".join(ast.dump(statement) for statement in body))
    return found


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", CHAPTERS)
def test_release_holds_no_solution_no_hidden_check_and_no_marker(course: Path, name: str, lang: str) -> None:
    chapters = read_chapters(course)
    chapter = next(c for c in chapters if c.name == name)
    solutions = find_solutions(course / "hero_transformer")
    closed = [
        solutions[cell.options["exercise"]]
        for other in chapters
        if other.number >= chapter.number
        for cell in other.of_kind("exercise")
        if cell.options["exercise"] not in (chapter.front.get("keeps") or [])
    ]
    secret = {ast.dump(ast.parse(f"def f():\n{textwrap.indent(s.body, '    ')}").body[0].body[0]) for s in closed}
    secret |= {"".join(map(ast.dump, ast.parse(f"def f():\n{textwrap.indent(s.body, '    ')}").body[0].body)) for s in closed}
    hidden = {
        line.strip() for cell in chapter.of_kind("hidden") for line in cell.source.splitlines() if len(line.strip()) > 20
    }
    answers = {f"{cell.key} = {cell.options['answer']}" for cell in chapter.of_kind("prediction")}
    visible = {line.strip() for cell in chapter.of_kind("check", "code") for line in cell.source.splitlines()}
    folder = course / "release" / lang / name
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    texts |= {folder / cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}
    assert len(texts) > 10
    for path, text in texts.items():
        assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)", text), path
        assert not {body for body in _bodies(text) if body in secret}, path
        assert not {line for line in hidden - visible if line in text}, path
        assert not {answer for answer in answers if answer in text}, path


def test_every_file_of_a_release_is_known(course: Path) -> None:
    modules = {path.name for path in (course / "hero_transformer").glob("*.py")}
    for name in CHAPTERS:
        for lang in LANGUAGES:
            folder = course / "release" / lang / name
            found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
            assert found == {f"{name}.ipynb", "fingerprints.json"} | {f"hero_transformer/{m}" for m in modules}


# Rule 3


@pytest.mark.parametrize("kind", ["source", "release"])
def test_committed_folders_are_what_the_build_makes(course: Path, tracked: list[str], kind: str) -> None:
    built = {
        str(path.relative_to(course)): path.read_bytes()
        for path in (course / kind).rglob("*")
        if path.is_file() and "hero_transformer" not in path.parts
    }
    committed = {name: (ROOT / name).read_bytes() for name in tracked if name.startswith(f"{kind}/")}
    assert committed.keys() == built.keys()
    assert [name for name in built if built[name] != committed[name]] == [], "run hero build and commit"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", CHAPTERS)
def test_committed_readers_have_the_inputs_that_the_build_makes(course: Path, name: str, lang: str) -> None:
    ours, theirs = (
        [(c.id, c.cell_type, c.source, c.metadata) for c in _notebook(folder, "chapters", lang, name).cells]
        for folder in (ROOT, course)
    )
    assert ours == theirs


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", CHAPTERS)
def test_readers_are_executed_to_the_end(name: str, lang: str) -> None:
    cells = [cell for cell in _notebook(ROOT, "chapters", lang, name).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        failed = any(output.output_type == "error" for output in cell.outputs)
        assert failed == ("raises-exception" in cell.metadata.get("tags", [])), cell.id


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_cell_escapes_the_comparison_unexplained(name: str) -> None:
    """nbval may ignore an output only where the cell says why; it may skip nothing."""
    for cell in _notebook(ROOT, "chapters", "zh", name).cells:
        tags = [tag for tag in cell.metadata.get("tags", []) if tag.startswith("nbval")]
        assert set(tags) <= {"nbval-ignore-output"}, cell.id
        assert not tags or re.search(r"^# nbval-ignore-output: \w+", cell.source, re.MULTILINE), cell.id


# Rule 4


@pytest.mark.parametrize("kind", ["source", "release", "chapters"])
@pytest.mark.parametrize("name", CHAPTERS)
def test_both_languages_have_the_same_cells_and_the_same_code(course: Path, name: str, kind: str) -> None:
    zh, en = (_notebook(course, kind, lang, name) for lang in LANGUAGES)
    assert [cell.id for cell in zh.cells] == [cell.id for cell in en.cells]
    for ours, theirs in zip(zh.cells, en.cells, strict=True):
        assert ours.cell_type == theirs.cell_type
        assert ours.metadata.get("nbgrader") == theirs.metadata.get("nbgrader")
        if ours.cell_type == "code":
            assert ours.source == theirs.source
            assert ours.get("outputs") == theirs.get("outputs")
        else:
            assert formulas(ours.source) == formulas(theirs.source)


@pytest.mark.parametrize("name", CHAPTERS)
def test_both_committed_readers_editions_show_the_same(name: str) -> None:
    """So one language's notebook is enough to execute again and compare."""
    zh, en = (_notebook(ROOT, "chapters", lang, name) for lang in LANGUAGES)
    shown = [
        [(cell.source, cell.outputs, cell.execution_count) for cell in one.cells if cell.cell_type == "code"]
        for one in (zh, en)
    ]
    assert shown[0] == shown[1]


# Rules 5 and 6: the build holds them; here they are held again on what is committed.


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", CHAPTERS)
def test_quantities_and_claims_of_the_committed_chapters_are_shown(name: str, lang: str) -> None:
    chapter = read_chapter(ROOT / "chapters" / name / "chapter.md")
    notebook = _notebook(ROOT, "chapters", lang, name)
    check_quantities(chapter, notebook)
    check_claims_shown(chapter, notebook)
    table = notebook.cells[-1].source
    for claim in chapter.front["claims"]:
        assert f"| {claim['id']} | {claim[lang]} |" in table


# Pins, and the project's words


def test_environment_yml_has_the_pins_of_the_lock_file() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    lock = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    pins = dict(pin.split("==") for pin in next(d["pip"] for d in dependencies if isinstance(d, dict)))
    assert {name: lock.get(name) for name in pins} == pins
    assert pins["torch"] == "2.13.0"
    needed = set(re.findall(r'"([a-z0-9-]+)"', (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[0]))
    assert needed & lock.keys() == set(pins)


def test_sheets_name_their_edition(course: Path) -> None:
    for name in CHAPTERS:
        sheets = {course / "chapters" / name: "reference"}
        sheets |= {course / kind / lang / name: name for kind in ("source", "release") for lang in LANGUAGES}
        for folder, edition in sheets.items():
            sheet = json.loads((folder / "fingerprints.json").read_text(encoding="utf-8"))
            assert sheet["edition"] == edition
            chapter = read_chapter(course / "chapters" / name / "chapter.md")
            assert set(sheet["checks"]) == {cell.key for cell in chapter.of_kind("check")}


@pytest.mark.parametrize("name", CHAPTERS)
def test_readme_lists_the_chapter_in_both_languages(name: str) -> None:
    front = read_chapter(ROOT / "chapters" / name / "chapter.md").front
    rows = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if f"chapters/{name}/" in line]
    for lang, row in zip(("en", "zh"), rows, strict=True):
        assert row.startswith(f"| [{name[:2]} {front['title'][lang]}](chapters/{name}/{lang}.ipynb) | ")
        assert row.endswith(f" | {front['minutes']} |")


def test_chapter_05_states_all_its_claims() -> None:
    chapter = read_chapter(ROOT / "chapters" / "05_decoder_block" / "chapter.md")
    assert [claim["id"] for claim in chapter.front["claims"]] == [f"S{number:02}" for number in range(1, 39)]
    assert len(list(chapter.of_kind("exercise"))) == 5
    assert len(list(chapter.of_kind("prediction"))) >= 4
