"""The grading engine: learners' code in one process, checks in another, and only plain data in between.

``zygote`` is a warm parent process; ``sandbox`` is what surrounds the one that runs learners' code. A child of it is a
``worker``: it runs a notebook's cells and answers calls. A child of another is the ``examiner``: it leads one
submission (``session``) and runs the checks of the instructor's notebook, where each exercise is a proxy (``proxy``)
that asks the worker. The driver keeps the two parents (``pair``), runs several submissions at a time (``pool``,
``cluster``), and is connected to nbgrader by ``salvage``, ``restore``, ``plan`` and ``execute``.
"""

__all__ = ["PACKAGE"]

PACKAGE = "hero_transformer"  # what learners and checks import: the chapter's edition of it
