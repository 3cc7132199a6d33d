"""Record texts that models write, with the log-probability of every token.

``python -m integration_tests.recorded_texts.record NAME FILE.gguf START STOP OUT`` lets the model
of a GGUF file, in llama.cpp by ``xllamacpp``, write the texts of the prompts from START to STOP and
adds them to OUT, a file of JSON lines. A repeated command continues. The texts of the repository
are the files of all models, compressed: ``services/tests/unit/recorded_texts``.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import xllamacpp

from .prompts import Prompt, prompts

SLOTS = 4
CONTEXT = 1536
TIMEOUT_S = 1800.0


def main() -> None:
    """Record the texts that are missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="name of the model in the records")
    parser.add_argument("model", type=Path)
    parser.add_argument("start", type=int)
    parser.add_argument("stop", type=int)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    known = set()
    if given.out.exists():
        known = {json.loads(line)["prompt"] for line in given.out.read_text().splitlines()}
    missing = [
        each
        for each in prompts()
        if given.start <= each.number < given.stop and each.number not in known
    ]
    with given.model.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    _record(missing, given.name, given.model, digest, given.out)


def _record(missing: Sequence[Prompt], name: str, model: Path, digest: str, out: Path) -> None:
    url, server = _serve(model)
    with (
        ThreadPoolExecutor(SLOTS) as executor,
        out.open("a", encoding="utf-8") as file,
    ):
        written = executor.map(lambda prompt: _write(url, prompt), missing)
        for prompt, pieces in zip(missing, written, strict=True):
            record = {
                "prompt": prompt.number,
                "kind": prompt.kind,
                "model": name,
                "sha256": digest,
                "tokens": [text for text, _ in pieces],
                # Thousandths of a nat.
                "logprobs": [round(1000 * logprob) for _, logprob in pieces],
            }
            print(json.dumps(record, ensure_ascii=False), file=file, flush=True)
    del server


def _serve(model: Path) -> tuple[str, Any]:
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    return server.listening_address, server


def _write(url: str, prompt: Prompt) -> list[tuple[str, float]]:
    """Return the tokens of the text that the model writes, with their log-probabilities."""
    common = {"max_tokens": prompt.max_tokens, "temperature": 0, "cache_prompt": False}
    if prompt.raw:
        path, body = "/v1/completions", {"prompt": prompt.text, "logprobs": 1}
    else:
        messages = [{"role": "user", "content": prompt.text}]
        path, body = "/v1/chat/completions", {"messages": messages, "logprobs": True}
    data = json.dumps(common | body).encode()
    request = Request(f"{url}{path}", data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=TIMEOUT_S) as response:
        (choice,) = json.load(response)["choices"]
    content = (choice.get("logprobs") or {}).get("content") or []
    return list(_decoded(content))


def _decoded(content: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, float]]:
    """Yield each token with the characters that it completes."""
    pending = b""
    for each in content:
        pending += bytes(each["bytes"])
        try:
            text = pending.decode()
        except UnicodeDecodeError as error:
            whole = len(pending) - error.start < 4
            text = "" if whole else pending.decode(errors="replace")
            if whole:
                yield "", each["logprob"]
                continue
        pending = b""
        yield text, each["logprob"]
    if pending:
        yield pending.decode(errors="replace"), 0.0


if __name__ == "__main__":
    main()
