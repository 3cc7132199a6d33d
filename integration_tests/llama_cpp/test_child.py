"""The process of llama.cpp's server: faults, and what it knows of the caller."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    DataCorrupt,
    NotFound,
    ScaarError,
    StreamIncomplete,
)
from scaar.core.types import GenerateRequest, GenerationEnd, Token
from scaar.generator.engines.llama_cpp import LlamaCppGenerator, open_llama_cpp_generator
from scaar.generator.engines.llama_cpp_server import supervisor as supervision

from .conftest import settings_of_file

REQUEST = GenerateRequest(
    "Question: Who is the spouse of the director of the film The Haunted Fountain?\nAnswer:",
    max_tokens=32,
)
PARENT = """
import asyncio, sys
from scaar.generator.engines.llama_cpp_server.parameters import ServerParameters
from scaar.generator.engines.llama_cpp_server.process import start_server

async def main(path, wait):
    server = await start_server(ServerParameters(path, "name", "key", 1, 512, 256, 1, 4))
    if wait:
        await server.loaded()
    print(server.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main(sys.argv[1], sys.argv[2] == "loaded"))
"""


@asynccontextmanager
async def opened(file: Path, **fields: object) -> AsyncIterator[LlamaCppGenerator]:
    async with open_llama_cpp_generator(settings_of_file(file, **fields)) as generator:
        yield generator


def pid_of(generator: LlamaCppGenerator) -> int:
    process = generator.supervisor.process
    assert process is not None
    return process.pid


async def write(generator: LlamaCppGenerator, request: GenerateRequest = REQUEST) -> list[Token]:
    """Return the tokens of a whole generation."""
    async with aclosing(generator.generate(request)) as events:
        found = [event async for event in events]
    assert isinstance(found[-1], GenerationEnd)
    return [event for event in found if isinstance(event, Token)]


def is_replaced(generator: LlamaCppGenerator, pid: int) -> bool:
    """Return whether a process serves no more."""
    process = generator.supervisor.process
    return process is None or process.pid != pid


def runs(pid: int) -> bool:
    try:
        return _statistics(pid)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        # The file is gone, or the process, since the file was opened.
        return False


async def until_gone(pid: int) -> None:
    await until(lambda: not runs(pid))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition of the system holds, which announces nothing."""
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_calls_survive_a_killed_server_or_end_with_an_error(smollm2: Path) -> None:
    request = GenerateRequest("Write about Rome.", max_tokens=60)
    async with opened(smollm2, slots=2, max_total_tokens=1024) as generator:
        first = pid_of(generator)
        calls = [asyncio.create_task(write(generator, request)) for _ in range(6)]
        async with aclosing(generator.generate(request)) as events:
            async for event in events:
                if isinstance(event, Token):
                    break
            os.kill(first, signal.SIGKILL)
        found = await asyncio.gather(*calls, return_exceptions=True)
        errors = [each for each in found if isinstance(each, BaseException)]
        assert all(isinstance(each, (StreamIncomplete, BackendUnavailable)) for each in errors)
        assert len(errors) < len(found), "calls without a token are made again"
        assert await write(generator)
        assert pid_of(generator) != first
        assert not runs(first)


async def test_the_service_is_not_ready_until_the_server_runs_again(lab_gguf: Path) -> None:
    async with opened(lab_gguf) as generator:
        described = await generator.describe_model()
        first = pid_of(generator)
        os.kill(first, signal.SIGKILL)
        await until(lambda: generator.supervisor.process is None)
        with pytest.raises(BackendUnavailable, match="is starting again"):
            await generator.describe_model()
        await generator.supervisor.ready()
        assert await generator.describe_model() == described


async def test_a_server_that_ends_again_and_again_is_one_error(
    lab_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 0.001)
    async with opened(lab_gguf) as generator:
        for _ in range(supervision.MAX_ENDS):
            await generator.supervisor.ready()
            pid = pid_of(generator)
            os.kill(pid, signal.SIGKILL)
            await until_gone(pid)
            await until(partial(is_replaced, generator, pid))
        await until(lambda: generator.supervisor.failure is not None)
        for call in (write(generator), generator.describe_model()):
            with pytest.raises(BackendUnavailable, match=r"5 times .* SIGKILL.* free memory"):
                await call


async def test_a_server_whose_file_was_deleted_is_one_error(
    lab_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 0.001)
    file = tmp_path / "copy.gguf"
    shutil.copy(lab_gguf, file)
    async with opened(file) as generator:
        file.unlink()
        os.kill(pid_of(generator), signal.SIGKILL)
        await until(lambda: generator.supervisor.failure is not None)
        with pytest.raises(NotFound, match=r"copy\.gguf cannot be read any more"):
            await write(generator)


@pytest.mark.parametrize("moment", ["loading", "loaded"])
async def test_the_server_ends_with_a_killed_parent(smollm2: Path, moment: str) -> None:
    command = [sys.executable, "-c", PARENT, str(smollm2), moment]
    parent = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    assert runs(child)
    parent.kill()
    await parent.wait()
    await until_gone(child)


async def test_no_process_is_left_after_the_block(lab_gguf: Path) -> None:
    async with opened(lab_gguf) as generator:
        child = pid_of(generator)
    assert not runs(child)


async def test_the_process_has_no_secrets_and_its_log_no_prompts(
    lab_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "SCAAR_GENERATOR_API_KEY_FILE": "/secret-file",
        "OPENAI_API_KEY": "secret-openai",
        "HF_TOKEN": "secret-token",
        "HTTP_PROXY": "http://secret-user@127.0.0.1:9",
        "ALL_PROXY": "socks5://127.0.0.1:9",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    async with opened(lab_gguf) as generator:
        request = GenerateRequest("Question: secret-question?\nAnswer:", max_tokens=8)
        # The calls do not go through the proxy, where nothing answers.
        assert await write(generator, request)
        process = generator.supervisor.process
        assert process is not None
        environment, arguments = _read(process.pid, "environ"), _read(process.pid, "cmdline")
        key = generator.supervisor.key().get_secret_value()
        assert not [each for each in secrets if each in environment]
        assert "secret" not in environment + arguments + "".join(process.log)
        assert key not in environment + arguments + "".join(process.log)


async def test_a_model_that_does_not_fit_is_rejected_with_both_figures(
    smollm2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "available_memory", lambda: 100_000_000)
    # Two slots for answers, and one for calls of no answer.
    expected = (
        r"^smollm2.gguf needs \d\d\d MB of memory \(98 MB weights, 283 MB keys and values\), but "
        r"100 MB are free: choose a smaller model, or set SCAAR_GENERATOR_MAX_TOTAL_TOKENS below "
        r"4096 or SCAAR_GENERATOR_SLOTS below 2$"
    )
    with pytest.raises(BackendUnavailable, match=expected):
        async with opened(smollm2, slots=2, max_total_tokens=4096):
            pass


async def test_files_that_llama_cpp_cannot_load_are_one_line(
    cut_off: Path, of_unknown_architecture: Path
) -> None:
    assert await _rejected(cut_off) == (
        "llama.cpp cannot load bad.gguf: tensor 'output_norm.weight' data is not within the file "
        "bounds, model is corrupted or incomplete; download or copy it again, or set "
        "SCAAR_GENERATOR_MODEL to another model"
    )
    assert await _rejected(of_unknown_architecture) == (
        "llama.cpp cannot run other.gguf: unknown model architecture: 'other'; update xllamacpp, "
        "or set SCAAR_GENERATOR_MODEL to another model"
    )


@pytest.fixture
def cut_off(smollm2: Path, tmp_path: Path) -> Path:
    """A file whose last tensor starts within it and ends beyond it."""
    file = tmp_path / "bad.gguf"
    file.write_bytes(smollm2.read_bytes()[:-100])
    return file


@pytest.fixture
def of_unknown_architecture(smollm2: Path, tmp_path: Path) -> Path:
    file, named = tmp_path / "other.gguf", b"\x05\0\0\0\0\0\0\0llama"
    content = smollm2.read_bytes().replace(named, named[:8] + b"other", 1)
    file.write_bytes(content.replace(b"llama.", b"other."))
    return file


async def _rejected(file: Path) -> str:
    with pytest.raises(DataCorrupt) as caught:
        async with opened(file):
            pass
    return caught.value.message


async def test_another_file_of_the_same_name_is_another_model(
    lab_gguf: Path, changed_lab_gguf: Path
) -> None:
    async with opened(lab_gguf) as one, opened(changed_lab_gguf) as two:
        first, second = await one.describe_model(), await two.describe_model()
    assert first.model == second.model
    assert len(first.revision) == 64
    assert first.revision != second.revision


async def test_a_file_that_is_replaced_while_it_is_used_is_reported(
    changed_lab_gguf: Path, lab_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervision, "FIRST_PAUSE_S", 0.001)
    async with opened(changed_lab_gguf) as generator:
        _replace(changed_lab_gguf, lab_gguf)
        first = pid_of(generator)
        os.kill(first, signal.SIGKILL)
        await until(partial(is_replaced, generator, first))
        with pytest.raises(ScaarError, match="was replaced while it was in use"):
            await write(generator)


@pytest.fixture
def changed_lab_gguf(lab_gguf: Path, tmp_path: Path) -> Path:
    """Another file with the name of the lab's model."""
    file = tmp_path / lab_gguf.name
    file.write_bytes(lab_gguf.read_bytes() + b"\0")
    return file


def _replace(file: Path, other: Path) -> None:
    pending = file.with_suffix(".new")
    shutil.copy(other, pending)
    pending.replace(file)


async def test_a_cancelled_call_ends_while_its_prompt_is_read(smollm2: Path) -> None:
    long = GenerateRequest("The fox runs over the hill. " * 300, max_tokens=1)
    async with opened(smollm2) as generator:
        before = _cpu_ticks(pid_of(generator))
        await write(generator, long)
        whole = _cpu_ticks(pid_of(generator)) - before
        before = _cpu_ticks(pid_of(generator))
        other = GenerateRequest(f"Now. {long.prompt}", max_tokens=1)
        call = asyncio.create_task(write(generator, other))
        await until(lambda: _cpu_ticks(pid_of(generator)) - before > whole / 10)
        call.cancel()
        # The next call is computed once the slot is free.
        await write(generator, GenerateRequest("Rome", max_tokens=1))
        assert _cpu_ticks(pid_of(generator)) - before < whole * 0.7


def _cpu_ticks(pid: int) -> int:
    """Return the CPU time of a process."""
    user, system = _statistics(pid)[11:13]
    return int(user) + int(system)


def _statistics(pid: int) -> list[str]:
    return _read(pid, "stat").rpartition(")")[2].split()


def _read(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()
