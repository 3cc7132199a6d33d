"""Makes the layout of an OpenSearch distribution from its artefacts in the Maven repository.

    python -m integration_tests.servers.opensearch.distribution [HOME [security|knn|knn,neural]]

``SCAAR_TEST_OPENSEARCH`` selects the version, and ``SCAAR_TEST_JAVA`` a Java other than that of the
path. Needs mvn; 71 MB to fetch the first time, some seconds later on. A layout that is there and
was made from the same files is left as it is.
"""

import fnmatch
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ..cache import locked

HERE = Path(__file__).resolve().parent
# The first Java of each version.
NEEDED_JAVA = {"2.19.4": 11, "3.4.0": 21}
DEFAULT = "2.19.4"
VERSION = os.environ.get("SCAAR_TEST_OPENSEARCH") or DEFAULT
JAVA = os.environ.get("SCAAR_TEST_JAVA") or "java"
CACHE = HERE / ".cache" / VERSION
MARKER = ".made-from"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_FOLDERS = ("bin", "extensions", "lib", "modules", "plugins")
_PACKAGE = "org.opensearch."


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the distribution: the jars in Maven come without descriptor and policy.

    ``plugin`` is the name of its class in 2.x; in 3.x it ends in ``ModulePlugin``.
    """

    plugin: str
    jars: tuple[str, ...]
    extends: str = ""
    permissions: tuple[str, ...] = ()


_PAINLESS_JARS = ("lang-painless-*", "opensearch-scripting-painless-spi-*", "asm-*", "antlr4-*")
_REINDEX_JARS = (
    "reindex-*",
    "opensearch-rest-client-*",
    "opensearch-ssl-config-*",
    "http*",
    "commons-codec-*",
    "commons-logging-*",
    "slf4j-api-*",
)
_CLASS_LOADERS = (
    'java.lang.RuntimePermission "createClassLoader"',
    'java.lang.RuntimePermission "getClassLoader"',
)
# Interfaces of the module transport-grpc, which Maven lacks. The k-NN plugin of 3.x loads them at
# start, and calls them only for searches by gRPC.
_GRPC = (
    "org/opensearch/transport/grpc/spi/QueryBuilderProtoConverter",
    "org/opensearch/transport/grpc/spi/QueryBuilderProtoConverterRegistry",
    "org/opensearch/protobufs/QueryContainer",
    "org/opensearch/protobufs/QueryContainer$QueryContainerCase",
)
MODULES = {
    "transport-netty4": Module(
        "transport.Netty4Plugin",
        ("transport-netty4-*", "netty-*"),
        permissions=(
            'java.io.FilePermission "/proc/sys/net/core/somaxconn", "read"',
            'java.net.SocketPermission "*", "accept,connect"',
            'java.lang.RuntimePermission "setContextClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
            'java.util.PropertyPermission "sun.nio.ch.bugLevel", "write"',
        ),
    ),
    "lang-painless": Module("painless.PainlessPlugin", _PAINLESS_JARS, permissions=_CLASS_LOADERS),
    "analysis-common": Module(
        "analysis.common.CommonAnalysisPlugin", ("analysis-common-*",), extends="lang-painless"
    ),
    "mapper-extras": Module("index.mapper.MapperExtrasPlugin", ("mapper-extras-*",)),
    "parent-join": Module("join.ParentJoinPlugin", ("parent-join-*",)),
    "percolator": Module("percolator.PercolatorPlugin", ("percolator-*",)),
    "aggs-matrix-stats": Module(
        "search.aggregations.matrix.MatrixAggregationPlugin", ("aggs-matrix-stats-*",)
    ),
    "rank-eval": Module("index.rankeval.RankEvalPlugin", ("rank-eval-*",)),
    "reindex": Module(
        "index.reindex.ReindexPlugin",
        _REINDEX_JARS,
        permissions=('java.net.SocketPermission "*", "connect"',),
    ),
}


def make(home: Path, *, plugin: str = "") -> bool:
    """Makes the layout in ``home``, with a plugin; says whether there was anything to do.

    ``plugin`` can be several, separated by commas.
    """
    check_java(VERSION, JAVA)
    with locked(home):
        return _make(home, plugin)


def _make(home: Path, plugin: str) -> bool:
    made_from = _made_from(plugin)
    marker = home / MARKER
    if marker.is_file() and marker.read_text() == made_from:
        return False
    jars = home / "jars"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    profiles = [each for each in (VERSION, plugin) if each and each != DEFAULT]
    profile = [f"-P{','.join(profiles)}"] if profiles else []
    maven = ["mvn", "-B", "-q", "-f", str(HERE / "pom.xml"), *profile]
    subprocess.run([*maven, _COPY, f"-DoutputDirectory={jars}"], check=True)
    for folder in _FOLDERS:
        (home / folder).mkdir()
    version = _version(jars)
    _place_jars(home, jars)
    for name, module in MODULES.items():
        _describe(home / "modules" / name, name, module, version)
    for packed in jars.glob("*.zip"):
        _unpack_plugin(home, packed, version)
    shutil.rmtree(jars)
    marker.write_text(made_from)
    return True


def check_java(version: str, java: str) -> None:
    """Raises a RuntimeError for an unknown version of OpenSearch, and a Java too old for it."""
    if version not in NEEDED_JAVA:
        known = " or ".join(NEEDED_JAVA)
        raise RuntimeError(f"SCAAR_TEST_OPENSEARCH must be {known}, not {version!r}")
    needed = f"OpenSearch {version} needs Java {NEEDED_JAVA[version]} or later"
    advice = "set SCAAR_TEST_JAVA to the path of its java program"
    try:
        described = subprocess.run([java, "-version"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"{needed}, but {java} does not run; {advice}") from error
    found = re.search(r'version "(\d+)', described.stderr)
    if found is None or int(found[1]) < NEEDED_JAVA[version]:
        is_version = f"version {found[1]}" if found else "of an unknown version"
        raise RuntimeError(f"{needed}, but {java} is {is_version}; {advice}")


def _made_from(plugin: str) -> str:
    content = (HERE / "pom.xml").read_bytes() + Path(__file__).read_bytes()
    return f"{hashlib.sha256(content).hexdigest()} {VERSION} {plugin=}\n"


def _version(jars: Path) -> str:
    pattern = re.compile(r"opensearch-(\d[\d.]*)\.jar")
    return next(found[1] for path in jars.iterdir() if (found := pattern.fullmatch(path.name)))


def _place_jars(home: Path, jars: Path) -> None:
    for jar in sorted(jars.glob("*.jar")):
        folder = home / "lib"
        for name, module in MODULES.items():
            if any(fnmatch.fnmatch(jar.name, pattern) for pattern in module.jars):
                folder = home / "modules" / name
                break
        folder.mkdir(exist_ok=True)
        shutil.move(jar, folder / jar.name)


def _describe(folder: Path, name: str, module: Module, version: str) -> None:
    plugin = module.plugin
    if not version.startswith("2."):
        plugin = f"{plugin.removesuffix('Plugin')}ModulePlugin"
    (folder / "plugin-descriptor.properties").write_text(
        f"name={name}\ndescription={name}\nversion={version}\nopensearch.version={version}\n"
        f"java.version=11\nclassname={_PACKAGE}{plugin}\n"
        f"extended.plugins={module.extends}\nhas.native.controller=false\n"
    )
    if module.permissions:
        lines = "".join(f"  permission {each};\n" for each in module.permissions)
        (folder / "plugin-security.policy").write_text(f"grant {{\n{lines}}};\n")


def _unpack_plugin(home: Path, packed: Path, version: str) -> None:
    folder = home / "plugins" / re.sub(r"-\d.*", "", packed.name)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    descriptor = folder / "plugin-descriptor.properties"
    content = descriptor.read_text()
    # Of the same minor version, another patch level: say that it fits.
    content = re.sub(r"(?m)^opensearch\.version=.*$", f"opensearch.version={version}", content)
    # Maven lacks these modules of 3.x, which the plugins start without.
    content = re.sub(r"(?m)\b(transport-grpc|rule-framework)$", r"\1;optional=true", content)
    descriptor.write_text(content)
    if "transport-grpc" in content:
        with zipfile.ZipFile(folder / "transport-grpc.jar", "w") as archive:
            for name in _GRPC:
                archive.writestr(f"{name}.class", _interface(name))
    # OpenSearch does not start with two copies of a class.
    for jar in folder.glob("*.jar"):
        (home / "lib" / jar.name).unlink(missing_ok=True)


def _interface(name: str) -> bytes:
    """The class file of a public interface without methods (JVM specification, chapter 4)."""
    names = (name.encode(), b"java/lang/Object")
    pool = (
        struct.pack(">BH", 1, len(each)) + each + struct.pack(">BH", 7, 2 * index + 1)
        for index, each in enumerate(names)
    )
    head = struct.pack(">IHHH", 0xCAFEBABE, 0, 52, 5)
    return head + b"".join(pool) + struct.pack(">7H", 0x0601, 2, 4, 0, 0, 0, 0)


if __name__ == "__main__":
    home = Path(sys.argv[1]).resolve() if sys.argv[1:] else CACHE / "plain"
    try:
        new = make(home, plugin="".join(sys.argv[2:3]))
    except RuntimeError as error:
        raise SystemExit(str(error)) from None
    print(f"{home}: {'made' if new else 'is there already'}")
