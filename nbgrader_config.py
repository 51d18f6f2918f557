"""What nbgrader reads first; the course's settings are in ``course_config.py``, beside it. Leave this file as it is.

Where a configuration file fails, nbgrader notes it in its log and goes on without any: learners' code would then run
beside the checks, outside of the sandbox, into the real gradebook. Only SystemExit stops it, so here every failure of
the settings, a misspelt line among them, becomes one.
"""

from pathlib import Path

settings = Path(__file__).with_name("course_config.py")
try:
    settings.read_bytes()  # load_subconfig passes over a file that is not there
    load_subconfig(str(settings))  # noqa: F821  (given by traitlets)
except ImportError as error:
    raise SystemExit(
        f"{settings}: {error}. Remedy: run the nbgrader of the environment in which the course is installed"
    ) from None
except Exception as error:
    raise SystemExit(f"{settings}: {type(error).__name__}: {' '.join(str(error).split())}") from None
