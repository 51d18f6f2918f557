"""Where HERO_TESTS=all, as in CI, a skipped test or file is a failed one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = {
    "test": "import pytest\n\n\ndef test_sandbox() -> None:\n    pytest.skip('no bubblewrap')\n",
    "mark": "import pytest\n\n\n@pytest.mark.skipif(True, reason='no bubblewrap')\ndef test_sandbox() -> None: ...\n",
    "fixture": "import pytest\n\n\n@pytest.fixture\ndef server() -> None:\n    pytest.importorskip('no_such_module')\n\n\n"
    "def test_sandbox(server) -> None: ...\n",
    "file": "import pytest\n\npytest.importorskip('no_such_module')\n",
}


@pytest.mark.parametrize("wanted", ["", "all"])
def test_a_skip_fails_where_all_is_wanted(root: Path, tmp_path: Path, wanted: str) -> None:
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests" / "conftest.py", tmp_path / "tests")
    for name, text in SKIPS.items():
        (tmp_path / "tests" / f"test_{name}.py").write_text(text)
    variables = {**os.environ, "PYTHONPATH": str(root), "HERO_TESTS": wanted}
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "--continue-on-collection-errors", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    if wanted:
        assert done.returncode == 1
        assert "skipped" not in last
        assert done.stdout.count("nothing may be skipped") >= len(SKIPS)
    else:
        assert f"{len(SKIPS)} skipped" in last
