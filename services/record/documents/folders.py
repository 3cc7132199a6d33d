"""Folders of real documents, made from Debian packages: ``python -m record.documents.folders DIR``.

The documents are those of Debian 12 (bookworm), as their authors published them, and are not part
of this repository. The questions are in ``questions.jsonl`` and ``other.jsonl``; their ``file`` is
a path in the folder of the question, such as ``git-doc/git-stash.html``.
"""

import argparse
import gzip
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scaar.core.errors import NotFound, ScaarError

_GZIPPED = ".gz"


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one package that go into one folder, under the name of the package.

    ``base`` is the package's folder that ``files`` are relative to. Files that the package
    compresses (``.gz``) are decompressed.
    """

    folder: str
    package: str
    version: str
    base: str
    files: tuple[str, ...]


def _pages(names: str, prefix: str = "", suffix: str = ".html") -> tuple[str, ...]:
    """Return the file names of the pages."""
    return tuple(f"{prefix}{name}{suffix}" for name in names.split())


SOURCES = (
    Source(
        folder="system",
        package="git-doc",
        version="1:2.39.5-0+deb12u3",
        base="usr/share/doc/git-doc",
        files=_pages(
            "git-bisect git-blame git-bundle git-clean git-clone git-gc git-maintenance "
            "git-reflog git-reset git-sparse-checkout git-stash git-tag git-worktree "
            "githooks gitignore"
        ),
    ),
    Source(
        folder="system",
        package="debian-reference-en",
        version="2.100",
        base="usr/share/debian-reference",
        files=_pages("ch03 ch04 ch05 ch06 ch10", suffix=".en.html"),
    ),
    Source(
        folder="system",
        package="doc-debian",
        version="11.3+nmu1",
        base="usr/share/doc/debian",
        files=_pages(
            "bug-log-mailserver bug-maint-info bug-maint-mailcontrol bug-reporting",
            suffix=".txt.gz",
        ),
    ),
    Source(
        folder="handbook",
        package="debian-handbook",
        version="11.20220922",
        base="usr/share/doc/debian-handbook/html",
        files=(
            "en-US/advanced-administration.html",
            *_pages(
                "apparmor asynchronous-task-scheduling-anacron automatic-upgrades backup dhcp "
                "firewall-packet-filtering hotplug http-web-server kernel-compilation "
                "ldap-directory manipulating-packages-with-dpkg monitoring network-config quotas "
                "release-lifecycle remote-login task-scheduling-cron-atd virtualization x509-cert",
                prefix="en-US/sect.",
            ),
            *_pages(
                "apt-get config-bootloader filesystem-hierarchy inetd installation-steps "
                "nfs-file-server package-authentication rights-management selinux syslog "
                "windows-file-server-with-samba",
                prefix="de-DE/sect.",
            ),
        ),
    ),
    Source(
        folder="faq",
        package="debian-faq",
        version="11.1",
        base="usr/share/doc/debian/FAQ",
        files=_pages(
            "basic-defs compatibility contributing getting-debian kernel nextrelease pkg-basics "
            "pkgtools redistributing software uptodate",  # codespell:ignore uptodate
            suffix=".en.html",
        ),
    ),
    Source(
        folder="faq",
        package="debian-faq-de",
        version="11.1",
        base="usr/share/doc/debian/FAQ/de",
        files=_pages("choosing customizing ftparchives support", suffix=".de.html"),
    ),
    Source(
        folder="faq",
        package="python3.11-doc",
        version="3.11.2-6+deb12u9",
        base="usr/share/doc/python3.11/html/faq",
        files=_pages("design extending general gui installed library programming windows"),
    ),
    Source(
        folder="faq",
        package="sqlite3-doc",
        version="3.40.1-2+deb12u2",
        base="usr/share/doc/sqlite3",
        files=("faq.html",),
    ),
    Source(
        folder="faq",
        package="git-doc",
        version="1:2.39.5-0+deb12u3",
        base="usr/share/doc/git-doc",
        files=("gitfaq.html",),
    ),
    Source(
        folder="other",
        package="borgbackup-doc",
        version="1.2.4-1",
        base="usr/share/doc/borgbackup/html",
        files=(
            *_pages("faq installation introduction quickstart"),
            *_pages(
                "automated-local central-backup-server hosting-repositories image-backup "
                "pull-backup",
                prefix="deployment/",
            ),
            *_pages("data-structures security", prefix="internals/"),
            *_pages(
                "check compact create delete extract general init key lock mount notes prune "
                "recreate serve tar upgrade",
                prefix="usage/",
            ),
        ),
    ),
)
"""Every file of every folder."""


def make_folders(root: Path, sources: Sequence[Source] = SOURCES) -> None:
    """Write the files of every source into ``root/FOLDER/PACKAGE``, over earlier ones.

    Downloads packages with apt-get, from the archives that this machine uses; installs nothing.

    Raises:
        NotFound: the archive lacks a package in the stated version, or a package lacks a file.
    """
    packages = sorted({(source.package, source.version) for source in sources})
    with TemporaryDirectory() as name:
        work = Path(name)
        for package, version in packages:
            _unpack(package, version, work / package)
        for source in sources:
            for file in source.files:
                _copy(work / source.package, source, file, root)


def _unpack(package: str, version: str, into: Path) -> None:
    """Download the package in this version and unpack its files."""
    download = into.with_name(f"{package}.download")
    download.mkdir()
    wanted = f"{package}={version}"
    if not _succeeds("apt-get", "--quiet", "download", wanted, folder=download):
        raise NotFound(
            f"package {wanted}: apt-get cannot download it; expected an archive of Debian 12 with "
            "this version (snapshot.debian.org keeps earlier versions)"
        )
    (archive,) = download.glob("*.deb")
    if not _succeeds("dpkg-deb", "--extract", str(archive), str(into), folder=download):
        raise NotFound(f"package {wanted}: dpkg-deb cannot unpack {archive.name}")


def _succeeds(*arguments: str, folder: Path) -> bool:
    """Run a program in the folder; its own errors go to the terminal."""
    return subprocess.run(arguments, cwd=folder, check=False).returncode == 0


def _copy(unpacked: Path, source: Source, file: str, root: Path) -> None:
    """Write one file of the package into its folder, decompressed."""
    path = unpacked / source.base / file
    if not path.is_file():
        raise NotFound(f"package {source.package} {source.version}: no file {source.base}/{file}")
    content = path.read_bytes()
    if path.suffix == _GZIPPED:
        content = gzip.decompress(content)
    target = root / source.folder / source.package / file.removesuffix(_GZIPPED)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def main() -> int:
    """Make the folders; return 1 if a package or a file is missing."""
    parser = argparse.ArgumentParser(prog="python -m record.documents.folders", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the four folders")
    try:
        make_folders(parser.parse_args().folder)
    except ScaarError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
