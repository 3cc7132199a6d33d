"""``scaar models get``: download a model, or name a file."""

from typing import Annotated

import typer

from scaar.cli.models.consent import download_facts, has_consent
from scaar.cli.notes import print_notes
from scaar.compose import build_model_store
from scaar.core.errors import InvalidRequest
from scaar.model_store.download import download_model, register_file
from scaar.model_store.wanted import WantedModel, parse_wanted


def get(
    model: Annotated[
        str,
        typer.Argument(
            metavar="NAME|hf:OWNER/REPO/FILE|PATH",
            help="A model of the catalogue, a GGUF file of the Hugging Face hub (@REVISION at its "
            "end: of a revision), or a GGUF file on this machine.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of a file. Default: the file's, without .gguf."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Download without a question.")] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Download nothing: fail if the model is not here.")
    ] = False,
) -> None:
    """Download a model, unless it is on this machine.

    The download is verified. Files of the Hugging Face hub stay in its cache, and a file named by
    its path stays where it is.
    """
    store = build_model_store()
    wanted = parse_wanted(model, name)
    if wanted.path is not None:
        found = register_file(store, wanted, wanted.path)
    else:

        def confirm(announced: WantedModel) -> None:
            consent = has_consent(announced, yes=yes)
            if consent is None:
                text = f"is required without a terminal, to download {download_facts(announced)}"
                raise InvalidRequest.of("--yes", text)
            if not consent:
                raise typer.Abort

        found = download_model(store, wanted, confirm, offline=offline, note=print_notes)
    print(f"{found.name}: {found.path}")
    settings = f"SCAAR_GENERATOR_ENGINE=llama_cpp SCAAR_GENERATOR_MODEL={found.name}"
    print_notes(f'Use it: {settings} scaar ask "..."')
