"""Lay out a root with the Python interpreter and the files it needs, for images without a shell.

    python3 deploy/minimal_root.py make ROOT          copy them to the empty folder ROOT
    python3 deploy/minimal_root.py check ENVIRONMENT  list the libraries that ROOT would lack for it

The root has the interpreter, its standard library, the shared libraries that both link, the
certificates of public authorities, time zones, and scaar's user. It has no shell, no package
manager and no setuid program. Debian packages that a file comes from are recorded in
var/lib/dpkg/status.d, where image scanners read them. Runs on a Debian image with Python 3.11 or
newer, as root.
"""

import os
import re
import shutil
import ssl
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_STDLIB = Path(sysconfig.get_path("stdlib"))
_LEFT_OUT = shutil.ignore_patterns(
    *("__pycache__", "site-packages", "dist-packages", "config-*", "ensurepip", "idlelib"),
    *("lib2to3", "pydoc_data", "test", "tests", "tkinter", "turtledemo", "*.a"),
    *("_tkinter.*", "_dbm.*", "_gdbm.*", "_test*", "_ctypes_test*", "nis.*", "xxlimited*"),
)
# What packages may link that are compiled for any Linux (PEP 600), and libgomp, which llama.cpp
# links. The C library opens libgcc_s when a thread ends, and before glibc 2.34 the libnss_* when a
# name is looked up.
_NAMED = (
    *("libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libgomp.so.1", "libm.so.6", "libnss_dns.so.2"),
    *("libnss_files.so.2", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libstdc++.so.6"),
    *("libutil.so.1", "libz.so.1"),
)
# What a virtual environment's interpreter is a link to.
_LINKS = ("/usr/bin/python3", "/usr/local/bin/python3")
_COPIED = ("/etc/ssl/certs/ca-certificates.crt", "/etc/os-release", "/etc/debian_version")
_COPIED_FOLDERS = ("/usr/share/zoneinfo", "/etc/ld.so.conf.d")
_USER = 10001
_WRITTEN = {
    "etc/passwd": f"root:x:0:0::/:/sbin/nologin\n"
    f"nobody:x:65534:65534::/nonexistent:/sbin/nologin\n"
    f"scaar:x:{_USER}:{_USER}::/var/lib/scaar:/sbin/nologin\n",
    "etc/group": f"root:x:0:\nnogroup:x:65534:\nscaar:x:{_USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n",
}


def main(arguments: list[str]) -> int:
    """Return the exit status for these arguments."""
    match arguments:
        case ["make", folder]:
            make(Path(folder))
            return 0
        case ["check", environment]:
            lacking = sorted(lacking_libraries(Path(environment)))
            print("".join(f"the root lacks {each}\n" for each in lacking), file=sys.stderr, end="")
            return bool(lacking)
    print("usage: minimal_root.py make ROOT | check ENVIRONMENT", file=sys.stderr)
    return 2


def make(root: Path) -> None:
    """Fill the empty folder ``root``."""
    shutil.copytree(_STDLIB, root / str(_STDLIB)[1:], ignore=_LEFT_OUT)
    for path in (*libraries(), sys.executable, *filter(os.path.exists, (*_LINKS, *_COPIED))):
        copy(Path(path), root)
    for folder in filter(os.path.isdir, _COPIED_FOLDERS):
        shutil.copytree(folder, root / folder[1:], symlinks=True)
    for name, text in _WRITTEN.items():
        (root / name).write_text(text)
    certificates = root / ssl.get_default_verify_paths().openssl_cafile[1:]
    certificates.parent.mkdir(parents=True, exist_ok=True)
    certificates.symlink_to(_COPIED[0])
    for folder in ("dev", "proc", "run", "sys", "tmp", "var/lib/scaar"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "tmp").chmod(0o1777)
    os.chown(root / "var/lib/scaar", _USER, _USER)
    record_packages(root)
    subprocess.run(["/sbin/ldconfig", "-r", root], check=True)
    compiling = ("-m", "compileall", "-q", "-j", "0", "-s", root, "-p", "/")
    subprocess.run([sys.executable, *compiling, root / str(_STDLIB)[1:]], check=True)


def libraries() -> set[str]:
    """Return the paths of the shared libraries that the interpreter and its modules need."""
    modules = [*(_STDLIB / "lib-dynload").iterdir()]
    left_out = _LEFT_OUT(str(_STDLIB), [each.name for each in modules])
    cached = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    known = dict(reversed(re.findall(r"^\s+(\S+) .*=> (\S+)$", cached.stdout, flags=re.MULTILINE)))
    named = {known[each] for each in _NAMED if each in known}
    files = (sys.executable, *(each for each in modules if each.name not in left_out), *named)
    linked = {path for file in files for path in links(file)}
    if lost := sorted(each for each in linked if not each.startswith("/")):
        raise SystemExit(f"the interpreter links what is not here: {', '.join(lost)}")
    return linked | named


def lacking_libraries(environment: Path) -> Iterator[str]:
    """Yield what compiled files of an environment link and neither the root nor it has."""
    there = {os.path.realpath(each) for each in libraries()}
    files = [each for each in environment.rglob("*.so*") if each.is_file()]
    own = {each.name for each in files}
    for file in files:
        for path in links(file):
            inside = path in own or path.startswith(f"{environment}/")
            if not inside and os.path.realpath(path) not in there:
                yield f"{path}, which {file} links"


def links(file: Path | str) -> Iterator[str]:
    """Yield the paths of the libraries that a file links; of one that is not found, its name."""
    ran = subprocess.run(["ldd", file], capture_output=True, text=True, check=False)
    for line in ran.stdout.splitlines():
        if found := re.match(r"\s+(?:\S+ => )?(/\S+) \(0x", line):
            yield os.path.normpath(found[1])
        elif found := re.match(r"\s+(\S+) => not found", line):
            yield found[1]


def copy(path: Path, root: Path) -> None:
    """Copy a file, and every symbolic link on the way to it."""
    for parent in (*reversed(path.parents), path):
        if parent.is_symlink():
            target = root / str(parent)[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                target.symlink_to(parent.readlink())
            rest = path.relative_to(parent)
            copy(Path(os.path.normpath(parent.parent / parent.readlink() / rest)), root)
            return
    target = root / str(path)[1:]
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)


def record_packages(root: Path) -> None:
    """Write the record and the licence of each Debian package that a file comes from."""
    known = Path("/var/lib/dpkg")
    if not (known / "status").is_file():
        return
    there = {f"/{each.relative_to(root)}" for each in root.rglob("*") if not each.is_dir()}
    # Packages name some of their files as before /lib became a link to /usr/lib.
    there |= {each.removeprefix("/usr") for each in there}
    records = root / "var/lib/dpkg/status.d"
    records.mkdir(parents=True)
    for stanza in (known / "status").read_text().split("\n\n"):
        fields = dict(re.findall(r"^(Package|Architecture): (.+)$", stanza, flags=re.MULTILINE))
        if not (name := fields.get("Package")):
            continue
        lists = (known / f"info/{name}{each}.list" for each in ("", f":{fields['Architecture']}"))
        if any(there & set(each.read_text().split("\n")) for each in lists if each.is_file()):
            (records / name).write_text(f"{stanza.strip()}\n")
            licence = Path(f"/usr/share/doc/{name}/copyright")
            if licence.is_file():
                copy(licence, root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
