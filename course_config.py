"""The course's settings, for nbgrader's own commands and extensions and for `hero`; see also ``nbgrader_config.py``.

HERO_LANG (zh or en; default zh) chooses the language of source/ and release/. Both languages share one
gradebook: their cells have the same ids and the same code, so a class may mix them.
"""

import os
import sys
from pathlib import Path

import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.preprocessors import CheckCellMetadata, ClearSolutions, Execute, GetGrades, OverwriteCells

import hero_course
from hero_course.engine.converters import use_everywhere
from hero_course.engine.execute import HeroExecute
from hero_course.engine.restore import RestoreCells
from hero_course.export import GradesTable
from hero_course.plugins import ClearSolutionsByCell, FeedbackStyle, HideHiddenChecks, RequireEdition
from hero_course.ready import ReadyExporter

c = get_config()  # noqa: F821  (given by traitlets)

root = Path(__file__).resolve().parent
lang = os.environ.get("HERO_LANG") or "zh"
if lang not in ("zh", "en"):
    raise SystemExit(f"HERO_LANG: expected zh or en, got {lang!r}. Remedy: unset it or choose one")
sandbox = os.environ.get("HERO_SANDBOX") or "bubblewrap"
if sandbox not in ("bubblewrap", "none"):
    raise SystemExit(f"HERO_SANDBOX: expected bubblewrap or none, got {sandbox!r}. Remedy: unset it or choose one")
# nbgrader runs the command alembic, so the environment's own folder must be on the path; and kernels must
# import the edition of the package beside the notebook, which PYTHONPATH would come before.
scripts = str(Path(sys.executable).parent)
if scripts not in os.environ["PATH"].split(os.pathsep):
    os.environ["PATH"] = scripts + os.pathsep + os.environ["PATH"]
os.environ.pop("PYTHONPATH", None)

c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "hero_transformer"
c.CourseDirectory.source_directory = f"source/{lang}"
c.CourseDirectory.release_directory = f"release/{lang}"
# One writer at a time; a second one waits for it instead of failing. HERO_DB may name a PostgreSQL database.
c.CourseDirectory.db_url = os.environ.get("HERO_DB", f"sqlite:///{root / 'gradebook.db'}?timeout=60")

# Its commands and formgrader copy and open only what was judged first; see hero_course/engine/converters.py.
use_everywhere(engine=os.environ.get("HERO_ENGINE") != "stock")

# Release: each cell's own stub, and never without the learner's edition of the package.
stock = GenerateAssignment().preprocessors
c.GenerateAssignment.preprocessors = [RequireEdition] + [
    ClearSolutionsByCell if one is ClearSolutions else one for one in stock
]

# Grade: a warning on stderr costs nothing; only a check's failure does.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(?s).*"

if os.environ.get("HERO_ENGINE") == "stock":  # nbgrader's own way, to compare with: learners' code beside the checks
    c.Execute.timeout = 60
    c.Execute.shutdown_kernel = "immediate"
    c.Execute.extra_arguments = ["--IPKernelApp.log_level=40"]
else:
    # Learners' code in a sandboxed process, checks in another; see docs/grading.md.
    c.Autograde.exporter_class = ReadyExporter  # looks at sandbox and gradebook before anybody is touched
    c.Autograde.pre_convert_hook = "hero_course.engine.salvage.offer_notebook"
    # What RestoreCells leaves is the instructor's but for the answers, so nothing else is left to clear or to check.
    c.Autograde.sanitize_preprocessors = [RestoreCells, OverwriteCells]
    c.Autograde.autograde_preprocessors = [
        HeroExecute if one is Execute else one
        for one in Autograde().autograde_preprocessors
        if one is not CheckCellMetadata
    ]
    # The kind of language, as is nbgrader's default, and what the learner and the instructor are told.
    c.ClearMetadataPreprocessor.preserve_nb_metadata_mask = {("language_info", "name"), ("hero", "notes")}
    c.SalvagingExporter.optimistic_validation = True  # once, after the last step
    c.HeroExecute.sandbox = sandbox
    c.HeroExecute.cell_seconds = 60  # wall time of one own cell, or of one exercise in all its checks
    c.HeroExecute.total_seconds = 300  # wall time of all own cells together
    c.HeroExecute.memory_megabytes = 4096  # address space of each process
    c.HeroExecute.processes = 64
    c.HeroExecute.file_megabytes = 64
    c.HeroExecute.disk_megabytes = 64
    c.HeroExecute.output_kilobytes = 1024  # of one cell
    c.HeroExecute.answer_megabytes = 16  # of one returned value
    c.HeroExecute.examples = "needed"  # untouched worked examples run where the learner's own code needs one; or all
    c.HeroExecute.restarts = 32  # of a process that the learner's code ended

# Export: no score rather than 0 where there is no result.
c.ExportApp.plugin_class = GradesTable

# Feedback: no hidden check, and formulas that need no network.
c.GenerateFeedback.preprocessors = [GetGrades, HideHiddenChecks, CSSHTMLHeaderPreprocessor, FeedbackStyle]
c.HTMLExporter.extra_template_basedirs = [
    str(Path(hero_course.__file__).parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]
# Both there and in formgrader: nothing that a learner wrote runs, and a page is bounded whatever was handed in.
c.HTMLExporter.preprocessors = ["hero_course.plugins.BoundPage"]
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {name: f"hero_course.page.{name}" for name in ("clean_html", "markdown2html")}
