"""What tox.ini cannot say: every backend's extra is an environment, which runs that backend's benchmarks."""

import tomllib
from pathlib import Path

from tox.plugin import impl

OF_NO_BACKEND = {"cupti", "fleet", "intel", "parquet", "test"}


@impl
def tox_extend_envs() -> list[str]:
    """The environments beside those of tox.ini, whose section ``testenv`` says what they do."""
    text = (Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8")
    return [
        name for name in tomllib.loads(text)["project"]["optional-dependencies"] if name not in OF_NO_BACKEND
    ]
