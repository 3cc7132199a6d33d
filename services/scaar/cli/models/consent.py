"""The consent to a download: an option, or an answer on the terminal."""

import sys

import typer

from scaar.cli.notes import print_notes
from scaar.model_store.wanted import WantedModel
from scaar.runtime.disk import size_text


def download_facts(wanted: WantedModel) -> str:
    """Return what would be downloaded: the model, its size, licence and source."""
    size = "size unknown" if wanted.size_bytes is None else size_text(wanted.size_bytes)
    return f"{wanted.name}: {size}, licence {wanted.licence}, from {wanted.sources[0]}"


def has_consent(wanted: WantedModel, *, yes: bool) -> bool | None:
    """Say what would be downloaded, and return whether to; None without a terminal to ask on."""
    facts = download_facts(wanted)
    if yes:
        print_notes(facts)
        return True
    if not sys.stdin.isatty():
        return None
    return typer.confirm(f"{facts}. Download it?", err=True)
