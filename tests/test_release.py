"""Steps of the release workflow."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[[^]]*\]\(([^)]*)\)")


def test_the_readme_of_a_release_has_no_relative_address(tmp_path: Path) -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    (commands,) = re.findall(r"- run: \|\n((?: {10}.*\n)+)", workflow)
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(before, encoding="utf-8")
    github = {
        "GITHUB_SERVER_URL": "https://example.org",
        "GITHUB_REPOSITORY": "owner/psm_sim",
        "GITHUB_REF_NAME": "v0.1.0",
    }
    subprocess.run(["bash", "-euc", commands], cwd=tmp_path, env=os.environ | github, check=True)
    after = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert LINK.findall(after) == [
        (mark, f"https://example.org/owner/psm_sim/{'raw' if mark else 'blob'}/v0.1.0/{target}")
        for mark, target in LINK.findall(before)
    ]
