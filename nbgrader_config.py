"""The course, for nbgrader's own commands and extensions, run from this folder.

HERO_LANG (zh or en; default zh) chooses the language of source/ and release/. Both languages share one
gradebook: their cells have the same ids and the same code, so a class may mix them.
"""

import os
import sys
from pathlib import Path

import nbgrader
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, GetGrades

import hero_course
from hero_course.plugins import ClearSolutionsByCell, FeedbackStyle, HideHiddenChecks, RequireEdition

c = get_config()  # noqa: F821  (given by traitlets)

root = Path(__file__).resolve().parent
lang = os.environ.get("HERO_LANG", "zh")
if lang not in ("zh", "en"):
    raise ValueError(f"HERO_LANG: expected zh or en, got {lang!r}; unset it or choose one")

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
# One writer at a time; a second one waits for it instead of failing.
c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}?timeout=60"

# Release: each cell's own stub, and never without the learner's edition of the package.
stock = GenerateAssignment().preprocessors
c.GenerateAssignment.preprocessors = [RequireEdition] + [
    ClearSolutionsByCell if one is ClearSolutions else one for one in stock
]

# Grade: a warning on stderr costs nothing; only a check's failure does.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(?s).*"
c.Execute.timeout = 60
c.Execute.shutdown_kernel = "immediate"
c.Execute.extra_arguments = ["--IPKernelApp.log_level=40"]

# Feedback: no hidden check, and formulas that need no network.
c.GenerateFeedback.preprocessors = [GetGrades, HideHiddenChecks, CSSHTMLHeaderPreprocessor, FeedbackStyle]
c.HTMLExporter.extra_template_basedirs = [
    str(Path(hero_course.__file__).parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]
c.HTMLExporter.filters = {"markdown2html": "hero_course.plugins.markdown2html"}
