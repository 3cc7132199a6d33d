"""Files of the Hugging Face hub, in its own cache and with its own settings.

``HF_ENDPOINT`` names a mirror, ``HF_TOKEN`` a token, ``HF_HOME`` the cache, and ``HF_HUB_OFFLINE``
forbids the network. Versions 0.36, 1 and 2 of ``huggingface_hub`` are supported; only the first
resumes a download of another process.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from scaar.core.distributions import library_required
from scaar.core.errors import BackendUnavailable, NotFound, PermissionDenied, ScaarError
from scaar.model_store.catalogue import HubFile
from scaar.runtime.disk import is_disk_full, write_problem

_EXTRA = ("a file of the Hugging Face hub", "models")


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """What the hub states of a file: its size, and its SHA-256 if it is a large file."""

    size_bytes: int | None
    sha256: str | None


def is_offline() -> bool:
    """Return whether ``HF_HUB_OFFLINE`` forbids the network."""
    with library_required(*_EXTRA):
        from huggingface_hub import constants
    return bool(constants.HF_HUB_OFFLINE)


def page_of(source: HubFile) -> str:
    """Return the address of the repository, where its licence and terms are."""
    with library_required(*_EXTRA):
        from huggingface_hub import constants
    return f"{constants.ENDPOINT}/{source.repository}"


def cached_file(source: HubFile) -> Path | None:
    """Return the file in the hub's cache; None if it is not there, or the hub is not installed.

    Raises:
        NotFound: the hub has no repositories of such a name.
    """
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    with _translated(source):
        found = try_to_load_from_cache(source.repository, source.file, revision=source.revision)
    return Path(found) if isinstance(found, str) else None


def published_file(source: HubFile) -> PublishedFile:
    """Return what the hub states of a file.

    Raises:
        NotFound: the repository, its revision or the file does not exist.
        PermissionDenied: the repository is gated, and its terms were not accepted.
        BackendUnavailable: the hub does not answer, or is not to be called.
    """
    with library_required(*_EXTRA):
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
    with _translated(source):
        url = hf_hub_url(source.repository, source.file, revision=source.revision)
        stated = get_hf_file_metadata(url)
    etag = stated.etag or ""
    return PublishedFile(stated.size, etag if re.fullmatch("[0-9a-f]{64}", etag) else None)


def cache_folder() -> Path:
    """Return the hub's cache."""
    with library_required(*_EXTRA):
        from huggingface_hub import constants
    return Path(constants.HF_HUB_CACHE)


def download_file(source: HubFile) -> Path:
    """Download a file into the hub's cache, which waits for other downloads of the same file.

    Raises:
        NotFound: the repository, its revision or the file does not exist.
        PermissionDenied: the repository is gated, and its terms were not accepted.
        BackendUnavailable: the hub does not answer, or the download broke off.
        ScaarError: the cache cannot be written.
    """
    with library_required(*_EXTRA):
        from huggingface_hub import hf_hub_download
    with _translated(source):
        return Path(hf_hub_download(source.repository, source.file, revision=source.revision))


def delete_cached(path: Path) -> None:
    """Delete a downloaded file: its content too, unless another revision in the cache has it."""
    content = path.resolve()
    path.unlink(missing_ok=True)
    snapshots = [parent for parent in path.parents if parent.name == "snapshots"]
    others = (link for folder in snapshots for link in folder.rglob("*") if link.is_symlink())
    if not any(link.resolve() == content for link in others):
        content.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()


@contextmanager
def _translated(source: HubFile) -> Iterator[None]:
    """Raise the errors of the hub's library as errors of scaar."""
    from huggingface_hub import errors

    # Requests is what version 0.36 calls the hub by, and httpx is what later ones do.
    transport: tuple[type[Exception], ...] = (
        errors.OfflineModeIsEnabled,
        *(
            base
            for base in errors.HfHubHTTPError.__mro__
            if base.__module__.partition(".")[0] in ("requests", "httpx")
        ),
    )
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    # Each of its tries is a warning of several lines.
    logger.setLevel(logging.ERROR)
    try:
        yield
    except errors.GatedRepoError as error:
        raise _gated(source) from error
    except errors.RepositoryNotFoundError as error:
        text = f"the hub has no repository {source.repository}, or it is private: set HF_TOKEN"
        raise NotFound(text) from error
    except errors.RevisionNotFoundError as error:
        text = f"{source.repository} has no revision {source.revision}"
        raise NotFound(text) from error
    except errors.LocalEntryNotFoundError as error:
        raise _unreachable(source, error.__cause__ or error) from error
    except errors.EntryNotFoundError as error:
        raise NotFound(f"{source.repository} has no file {source.file}") from error
    except (errors.HFValidationError, errors.FileMetadataError) as error:
        raise NotFound(f"{source} is no file of the hub: {error}") from error
    except transport as error:
        raise _unreachable(source, error) from error
    except OSError as error:
        raise _failed(source, error) from error
    finally:
        logger.setLevel(level)


def _gated(source: HubFile) -> PermissionDenied:
    return PermissionDenied(
        f"{source.repository} is gated: accept its terms at {page_of(source)}, and set HF_TOKEN to "
        "a token of the account that accepted them"
    )


def _unreachable(source: HubFile, error: BaseException) -> ScaarError:
    from huggingface_hub import errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        text = f"{source} is not on this machine, and HF_HUB_OFFLINE forbids the network"
        return BackendUnavailable(f"{text}: unset it, and run the command again")
    if isinstance(error, errors.GatedRepoError):
        return _gated(source)
    return BackendUnavailable(
        f"{page_of(source)} did not send {source.file}: {_first_cause(error)}; run the command "
        "again, or set HF_ENDPOINT to a mirror"
    )


def _failed(source: HubFile, error: OSError) -> ScaarError:
    if is_disk_full(error):
        return ScaarError(write_problem(cache_folder(), error))
    # Such as a file that ends early, which the hub's library reports so.
    return BackendUnavailable(f"{source} was not downloaded: {error}; run the command again")


def _first_cause(error: BaseException) -> BaseException:
    """Return the error that the libraries wrapped, such as a refused connection."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
