"""A builder that is killed before any step of putting in place leaves the old index or the new."""

import os
import subprocess
import sys
import textwrap
from itertools import groupby
from pathlib import Path

import pytest

from scaar.core.types import IndexMode

KILLS = textwrap.dedent(
    """
    import asyncio, os, shutil, signal, sys, traceback
    from pathlib import Path

    import scaar.retriever.local.engine
    from scaar.core.errors import NotFound
    from scaar.core.types import IndexMode, Passage, RetrieveRequest
    from scaar.retriever.factory import open_retriever
    from scaar.retriever.settings import RetrieverSettings

    STEPS = {"os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
    MODE, PLACE = IndexMode(sys.argv[1]), Path(sys.argv[2])
    ROOT, SAVED = PLACE / "indexes", PLACE / "saved"

    async def passages(title):
        for number in range(3):
            yield Passage(str(number), title, "volcano")

    async def index(name, title, mode):
        async with open_retriever(RetrieverSettings(indexes=ROOT)) as retriever:
            await retriever.index_passages(name, passages(title), mode=mode)

    async def look():
        async with open_retriever(RetrieverSettings(indexes=ROOT)) as retriever:
            try:
                found = await retriever.retrieve(RetrieveRequest(("volcano",), 9, "geo"))
            except NotFound:
                print("none", flush=True)
            else:
                (title,) = {passage.title for passage in found.results[0]}
                assert len(found.results[0]) == 3
                print(title, flush=True)

    def kill_at(step):
        def watch(event, arguments):
            nonlocal step
            place = str(arguments[0]) if arguments else ""
            written = event == "open" and place.endswith("manifest.json") and arguments[1] != "rb"
            if (written or event in STEPS) and place.startswith(str(ROOT)):
                step -= 1
                if step == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(watch)

    def child(work, step=0):
        process = os.fork()
        if not process:
            try:
                kill_at(step)
                asyncio.run(work)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        work.close()
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    ROOT.mkdir()
    if MODE is not IndexMode.CREATE:
        assert child(index("geo", "old", IndexMode.CREATE)) == 0
    ROOT.rename(SAVED)
    step, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        step += 1
        shutil.rmtree(ROOT, ignore_errors=True)
        shutil.copytree(SAVED, ROOT)
        status = child(index("geo", "new", MODE), step)
        assert child(look()) == 0
    assert status == 0
    """
)


@pytest.mark.parametrize(
    "mode",
    [
        IndexMode.CREATE,
        IndexMode.REPLACE,
        pytest.param(IndexMode.UPSERT, marks=pytest.mark.long),
    ],
)
def test_a_builder_killed_before_any_step_leaves_the_old_index_or_the_new_one(
    mode: IndexMode, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", KILLS, mode, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.returncode == 0, ran.stderr
    found = ran.stdout.splitlines()
    before = "none" if mode is IndexMode.CREATE else "old"
    assert [state for state, _ in groupby(found)] == [before, "new"]
    assert len(found) > 5
