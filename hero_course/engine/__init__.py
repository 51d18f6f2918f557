"""The grading engine: learners' code in one process, checks in another, and only plain data in between.

``zygote`` is a warm parent process; ``sandbox`` is what surrounds the one that runs learners' code. A child of it is a
``worker``: it runs a notebook's cells and answers calls. A child of another is the ``examiner``: it runs the checks of
the instructor's notebook, where each exercise is a proxy (``proxy``) that asks the worker. ``session`` leads both
through one submission; ``pool`` runs sessions side by side; ``salvage``, ``restore`` and ``execute`` connect all of it
to nbgrader.
"""
