"""The Go example of docs/clients.md, run as the page says."""

import asyncio
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text()
_TARGET, _PROTO = "dns:///127.0.0.1:50051", "path/to/scaar/proto"
_PATIENCE_S = 300


async def run_go_example(folder: Path, target: str) -> list[str]:
    """The lines that it prints of an orchestrator, generated and compiled in the folder."""
    (folder / "buf.gen.yaml").write_text(_block("yaml"))
    (folder / "main.go").write_text(_block("go"))
    commands = _block("sh").replace(_PROTO, str(ROOT / "proto")).replace(_TARGET, target)
    path = (str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    running = await asyncio.create_subprocess_exec(
        *("bash", "-euc", commands),
        cwd=folder,
        env=os.environ | {"GOBIN": str(folder / "bin"), "PATH": os.pathsep.join(path)},
        stdout=asyncio.subprocess.PIPE,
    )
    reported, _ = await asyncio.wait_for(running.communicate(), _PATIENCE_S)
    assert running.returncode == 0
    return reported.decode().splitlines()


def _block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)
