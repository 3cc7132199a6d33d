"""Makes the layout of an OpenSearch distribution from its artefacts in the Maven repository.

    python distribution.py HOME [security|knn]

Needs mvn; 71 MB to fetch the first time, some seconds later on. A layout that is there and was made
from the same files is left as it is.
"""

import fnmatch
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARKER = ".made-from"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_FOLDERS = ("bin", "extensions", "lib", "modules", "plugins")
_PACKAGE = "org.opensearch."


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the distribution: the jars in Maven come without descriptor and policy."""

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
)
_CLASS_LOADERS = (
    'java.lang.RuntimePermission "createClassLoader"',
    'java.lang.RuntimePermission "getClassLoader"',
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
    """Makes the layout in ``home``, with a plugin; says whether there was anything to do."""
    made_from = _made_from(plugin)
    marker = home / MARKER
    if marker.is_file() and marker.read_text() == made_from:
        return False
    jars = home / "jars"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    profile = [f"-P{plugin}"] if plugin else []
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


def _made_from(plugin: str) -> str:
    content = (HERE / "pom.xml").read_bytes() + Path(__file__).read_bytes()
    return f"{hashlib.sha256(content).hexdigest()} {plugin=}\n"


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
    (folder / "plugin-descriptor.properties").write_text(
        f"name={name}\ndescription={name}\nversion={version}\nopensearch.version={version}\n"
        f"java.version=11\nclassname={_PACKAGE}{module.plugin}\n"
        f"extended.plugins={module.extends}\nhas.native.controller=false\n"
    )
    if module.permissions:
        lines = "".join(f"  permission {each};\n" for each in module.permissions)
        (folder / "plugin-security.policy").write_text(f"grant {{\n{lines}}};\n")


def _unpack_plugin(home: Path, packed: Path, version: str) -> None:
    folder = home / "plugins" / re.sub(r"-\d.*", "", packed.name)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    # Of the same minor version, another patch level: say that it fits.
    descriptor = folder / "plugin-descriptor.properties"
    fits = re.sub(
        r"(?m)^opensearch\.version=.*$", f"opensearch.version={version}", descriptor.read_text()
    )
    descriptor.write_text(fits)


if __name__ == "__main__":
    home = Path(sys.argv[1]).resolve()
    new = make(home, plugin="".join(sys.argv[2:3]))
    print(f"{home}: {'made' if new else 'is there already'}")
