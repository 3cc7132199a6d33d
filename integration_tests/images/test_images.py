"""What the images contain and lack, read from containers of them.

The engine and the images are those of ``integration_tests/installation/ours/containers.py``.
"""

import json
import os
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from scaar import __version__

from ..installation.ours.containers import docker
from ..servers.models.gguf_models import MODELS, gguf_model

PREFIX = os.environ.get("SCAAR_IMAGES") or "scaar/"
VERSION = os.environ.get("SCAAR_VERSION") or __version__
SERVICES = (
    *("orchestrator", "generator", "scorer", "query-builder", "retriever", "evaluator"),
    "records",
)
IMAGES = (*SERVICES, "gateway", "console", "worker", "scaar-lab")
HARDENED = ("--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL")
TOOLS = {
    *("ash", "bash", "busybox", "dash", "sh", "apt", "apt-get", "dpkg-query", "pip", "pip3"),
    *("curl", "ensurepip", "gcc", "ldconfig", "mount", "perl", "su", "wget"),
}
STATE = "{{.State.Health.Status}}"
# Programs by name, and files that run as another user.
FOUND = """
import json, os, stat
names, privileged = set(), []
for folder, folders, files in os.walk("/"):
    folders[:] = [each for each in folders if os.path.join(folder, each) not in ("/proc", "/sys")]
    names |= {*folders, *files}
    for each in files:
        path = os.path.join(folder, each)
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
            privileged.append(path)
print(json.dumps([sorted(names), privileged]))
"""
# Loads every compiled file, so that each library that one links is looked for, and names no less.
LOADED = """
import ctypes, socket, ssl, sys
from pathlib import Path
files = [each for each in Path("/opt/venv").rglob("*.so*") if each.is_file()]
assert len(files) >= 5
left = files
while left:
    missing = {}
    for each in left:
        try:
            ctypes.CDLL(str(each))
        except OSError as error:
            missing[each] = error
    # One that brings others of its own finds them once they are loaded.
    assert len(missing) < len(left), missing
    left = list(missing)
assert socket.getaddrinfo("localhost", 80)
assert socket.getaddrinfo(sys.argv[1], 80)
assert len(ssl.create_default_context().get_ca_certs()) > 50
print("loaded")
"""

# Serves a file as the Hugging Face hub does, on loopback.
HUB = """
import signal
from pathlib import Path
from scaar.testing.hub_server import HubServer, serving
with serving(HubServer(Path("/model.gguf").read_bytes())) as hub:
    print(hub.url)
    signal.pause()
"""
# Prints the model of the generator in the same container, and what it writes.
GENERATED = """
import asyncio, json
import grpc
from scaar.core.types import GenerateRequest, Token
from scaar.wire.generator import RemoteGenerator

async def main():
    target = "127.0.0.1:50052"
    async with grpc.aio.insecure_channel(target) as channel:
        generator = RemoteGenerator(channel, target)
        described = await generator.describe_model()
        request = GenerateRequest("Rome is the capital of", max_tokens=8)
        written = [e.text async for e in generator.generate(request) if isinstance(e, Token)]
        print(json.dumps([described.engine, described.revision, "".join(written)]))

asyncio.run(main())
"""


def python(image: str, script: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    """What a script prints in a container of an image."""
    shown = f"{PREFIX}{image}:{VERSION}"
    run = ("run", *HARDENED, *options, "--entrypoint", "python", shown)
    return docker(*run, "-c", script, *arguments)


@pytest.fixture(scope="module")
def network() -> Iterator[str]:
    """A network whose names the engine serves by DNS."""
    name = f"scaar-tests-{uuid4().hex[:8]}"
    docker("network", "create", name)
    try:
        yield name
    finally:
        docker("network", "rm", name)


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_has_no_shell_no_package_manager_and_no_setuid_program(image: str) -> None:
    names, privileged = json.loads(python(image, FOUND, options=("--user", "0")))
    assert {"python3", "scaar"} <= set(names)
    assert TOOLS & set(names) == set()
    assert privileged == []


@pytest.mark.parametrize("image", IMAGES)
def test_every_library_of_an_image_loads_and_names_are_found(image: str, network: str) -> None:
    options = ("--network", network, "--network-alias", "called", "--hostname", "other")
    assert python(image, LOADED, "called", options=options) == "loaded"


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_runs_scaar_as_its_user_and_checks_its_health_without_a_shell(image: str) -> None:
    config = json.loads(docker("image", "inspect", f"{PREFIX}{image}:{VERSION}"))[0]["Config"]
    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["scaar"]
    checked = ["NONE"] if image == "worker" else ["CMD", "python", "-m", "scaar.runtime.probe"]
    assert config["Healthcheck"]["Test"] == checked
    assert docker("run", *HARDENED, f"{PREFIX}{image}:{VERSION}", "--version").endswith(VERSION)


def test_scanners_find_the_packages_of_debian() -> None:
    listed = "import os; print(*os.listdir('/var/lib/dpkg/status.d'))"
    assert {"libc6", "libssl3"} & set(python("orchestrator", listed).split())


@pytest.mark.parametrize(
    ("image", "tables"),
    [("evaluator", "evaluations"), ("records", "records"), ("orchestrator", "records")],
)
def test_an_image_brings_its_tables_to_this_version(image: str, tables: str) -> None:
    shown = f"{PREFIX}{image}:{VERSION}"
    volume = f"scaar-tests-{uuid4().hex[:8]}"
    run = ("run", *HARDENED, "--volume", f"{volume}:/var/lib/scaar", shown)
    try:
        docker(*run, "db", "upgrade", "--tables", tables)
        docker(*run, "db", "check", "--tables", tables)
    finally:
        docker("volume", "rm", "--force", volume)


def started(image: str, *options: str) -> str:
    """Start a container whose health is checked every second, and return its name."""
    name = f"scaar-tests-{uuid4().hex[:8]}"
    quick = ("--health-interval", "1s", "--detach", "--name", name)
    docker("run", *quick, *HARDENED, *options, f"{PREFIX}{image}:{VERSION}")
    return name


def wait_until_healthy(name: str) -> None:
    until = time.monotonic() + 60
    while (state := docker("inspect", "--format", STATE, name)) != "healthy":
        assert state == "starting"
        assert time.monotonic() < until
        time.sleep(0.5)


@pytest.mark.parametrize("image", ["query-builder", "records", "console"])
def test_the_health_check_of_an_image_reports_a_healthy_service(image: str) -> None:
    # Records create their database, and the console is ready without the services behind it.
    name = started(image, "--tmpfs", "/var/lib/scaar:uid=10001,gid=10001")
    try:
        wait_until_healthy(name)
    finally:
        docker("rm", "--force", name)


def test_the_gateways_image_is_healthy_once_its_orchestrator_is(network: str) -> None:
    there = ("--network", network)
    target = "SCAAR_GATEWAY_ORCHESTRATOR_TARGET=dns:///orchestrator:50051"
    names = [started("gateway", *there, "--env", target)]
    asking = ("exec", names[0], "python", "-m", "scaar.runtime.probe")
    try:
        until = time.monotonic() + 60
        while True:
            try:
                docker(*asking, "http://localhost:8090/healthz")
                break
            except RuntimeError:
                assert time.monotonic() < until
                time.sleep(0.5)
        with pytest.raises(RuntimeError, match="returned status 503"):
            docker(*asking)
        names.append(started("scaar-lab", *there, "--network-alias", "orchestrator"))
        wait_until_healthy(names[0])
    finally:
        docker("rm", "--force", *names)


def test_the_generators_image_downloads_a_gguf_file_and_writes_with_it(network: str) -> None:
    hub, volume = (f"scaar-tests-{uuid4().hex[:8]}" for _ in range(2))
    names = [hub]
    mounted = ("--volume", f"{gguf_model('smollm2')}:/model.gguf:ro")
    running = ("--detach", "--name", hub, *HARDENED, "--network", network, *mounted)
    try:
        docker("run", *running, "--entrypoint", "python", f"{PREFIX}scaar-lab:{VERSION}", "-c", HUB)
        url = wait_for_log(hub)
        # Loopback is that of the hub's container.
        there = ("--network", f"container:{hub}", "--volume", f"{volume}:/var/lib/scaar")
        get = ("models", "get", "hf:maker/model/tiny.gguf", "--yes")
        run = ("run", *HARDENED, *there, "--env", f"HF_ENDPOINT={url}")
        docker(*run, f"{PREFIX}generator:{VERSION}", *get)
        settings = ("SCAAR_GENERATOR_ENGINE=llama_cpp", "SCAAR_GENERATOR_MODEL=tiny")
        environment = [part for setting in settings for part in ("--env", setting)]
        names.append(started("generator", *there, *environment))
        wait_until_healthy(names[1])
        engine, revision, text = json.loads(docker("exec", names[1], "python", "-c", GENERATED))
        assert (engine, revision) == ("llama_cpp", MODELS["smollm2"].sha256)
        assert text
    finally:
        docker("rm", "--force", *names)
        docker("volume", "rm", "--force", volume)


def wait_for_log(name: str) -> str:
    """Return what a container has printed once it has printed something."""
    until = time.monotonic() + 60
    while not (printed := docker("logs", name)):
        assert time.monotonic() < until
        time.sleep(0.2)
    return printed


def test_the_gateways_image_has_its_pages_and_neither_models_nor_engines() -> None:
    found = """
import importlib.util, json
from importlib.metadata import distributions
names = {each.metadata["Name"].lower().replace("_", "-") for each in distributions()}
import scaar.gateway.app
print(json.dumps(sorted(names)))
"""
    names = set(json.loads(python("gateway", found)))
    assert {"fastapi", "uvicorn", "mcp", "prometheus-client"} <= names
    assert not {"onnxruntime", "tokenizers", "faiss-cpu", "sqlalchemy", "tritonclient"} & names


@pytest.mark.parametrize("image", ["orchestrator", "records"])
def test_images_with_records_have_the_clients_of_their_databases(image: str) -> None:
    found = "import scaar.records.store.store, aiosqlite, asyncpg; print('found')"
    assert python(image, found) == "found"


def test_the_consoles_image_has_its_pages_and_neither_models_nor_databases() -> None:
    found = """
import json
from importlib.metadata import distributions
names = {each.metadata["Name"].lower().replace("_", "-") for each in distributions()}
import scaar.console.app
print(json.dumps(sorted(names)))
"""
    names = set(json.loads(python("console", found)))
    assert {"starlette", "uvicorn", "jinja2", "prometheus-client"} <= names
    assert not {"onnxruntime", "faiss-cpu", "sqlalchemy", "tritonclient", "mcp"} & names
