"""The package @scaar/client: its tests in Node, what is packed, and the example of its README."""

import json
import os
import re
import subprocess
from pathlib import Path

from scaar import __version__
from scaar.cli.serve.services import ServiceName
from scaar.testing.lab_installation import LabInstallation

from .conftest import PACKAGE, ROOT


def test_the_tests_of_the_package_pass_on_a_gateway_and_an_orchestrator(
    package: Path, lab: LabInstallation
) -> None:
    urls = {
        "SCAAR_GATEWAY_URL": lab.gateway_url,
        "SCAAR_GRPC_URL": f"http://127.0.0.1:{lab.orchestrator_port}",
        "SCAAR_RECORDS_URL": lab.target_of(ServiceName.RECORDS).replace("dns:///", "http://"),
    }
    subprocess.run(["npm", "test"], cwd=package, check=True, env={**os.environ, **urls})


def test_the_package_has_the_generated_code_and_the_example(package: Path) -> None:
    command = ["npm", "pack", "--dry-run", "--json", "--ignore-scripts"]
    packed = subprocess.run(command, cwd=package, check=True, stdout=subprocess.PIPE)
    found = json.loads(packed.stdout)
    (described,) = found.values() if isinstance(found, dict) else found
    files = {each["path"] for each in described["files"]}
    assert described["version"] == __version__
    assert {
        "LICENSE",
        "README.md",
        "dist/index.js",
        "dist/node.d.ts",
        "dist/gen/scaar/v1/orchestrator_pb.js",
        "example/index.html",
        "example/dist/ask.js",
    } <= files
    assert not [each for each in files if each.startswith(("node_modules", "src", "test"))]


def test_the_lock_names_no_host() -> None:
    assert "://" not in (PACKAGE / "package-lock.json").read_text()


def test_the_example_of_the_readme_runs(package: Path, lab: LabInstallation) -> None:
    page = (PACKAGE / "README.md").read_text()
    (code,) = re.findall(r"```ts\n(.*?)```", page, re.DOTALL)
    assert "http://localhost:8090" in code
    script = package / "readme.mjs"
    script.write_text(code.replace("http://localhost:8090", lab.gateway_url))
    ran = subprocess.run(["node", script], cwd=package, check=True, stdout=subprocess.PIPE)
    printed = ran.stdout.decode()
    assert "So the answer is" in printed
    assert "The Haunted Fountain" in printed
    assert "NOT_FOUND" in printed


def test_the_example_of_the_clients_page_runs_with_the_packed_package(
    package: Path, lab: LabInstallation, tmp_path: Path
) -> None:
    page = (ROOT / "docs/clients.md").read_text()
    (code,) = re.findall(r"```ts\n(import [^`]*@scaar/client/node.*?)```", page, re.DOTALL)
    (node,) = re.findall(r"@connectrpc/connect-node@\S+?(?=`)", page)
    pack = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(tmp_path)]
    subprocess.run(pack, cwd=package, check=True, stdout=subprocess.DEVNULL)
    (archive,) = tmp_path.glob("*.tgz")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    subprocess.run(["npm", "install", "--silent", archive.name, node], cwd=tmp_path, check=True)
    assert "http://127.0.0.1:50051" in code
    url = f"http://127.0.0.1:{lab.orchestrator_port}"
    (tmp_path / "ask.js").write_text(code.replace("http://127.0.0.1:50051", url))
    ran = subprocess.run(["node", "ask.js"], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    assert "So the answer is" in ran.stdout.decode()
