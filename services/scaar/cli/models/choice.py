"""The model of a command that has an option for it: of the settings, the option or the catalogue.

The model for questions about documents is the catalogue's default. Another one on this machine is
not chosen in its place, since its answers may be worse: the smallest one is for first steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Annotated

import typer

from scaar.cli.models.consent import download_facts, has_consent
from scaar.cli.notes import print_notes
from scaar.compose import EMBEDDED, build_model_store
from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound
from scaar.generator.settings import GeneratorSettings, check_together
from scaar.model_store.catalogue import DEFAULT_MODEL, entry_named
from scaar.model_store.download import download_model
from scaar.model_store.files import check_gguf
from scaar.model_store.store import ModelStore, is_model_name
from scaar.model_store.wanted import WantedModel, parse_wanted
from scaar.orchestrator.settings import OrchestratorSettings

Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|hf:OWNER/REPO/FILE|PATH",
        help="Model that answers, in llama.cpp: of the catalogue (scaar models), a GGUF file of "
        "the Hugging Face hub, or one of this machine. It is downloaded once, with consent.",
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Download a model of --model without a question.")
]
Offline = Annotated[
    bool,
    typer.Option("--offline", help="Download nothing: fail if the model is not on this machine."),
]

_CHOOSING = {"engine", "model", "url"}
"""Settings of the generator that say which model answers."""
_ENGINE, _MODEL = "SCAAR_GENERATOR_ENGINE", "SCAAR_GENERATOR_MODEL"
_OPTION = "--model"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that answers, as settings of the generator."""

    label: str
    """The model, for a line that says which one answers."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Environment variables; none if the settings say already which model answers."""
    wanted: WantedModel | None = None
    """The model to have on this machine; None if it is elsewhere, or a file that is here."""

    def ensure(self, *, yes: bool, offline: bool) -> None:
        """Have the model on this machine, downloaded with consent, and say which model answers.

        Raises:
            NotFound: the model is not here, and there is no consent to its download, or
                ``offline`` forbids it. The error says what to run.
            CapabilityMissing: llama.cpp is not installed.
            ScaarError: the download failed.
        """
        if self.wanted is not None:
            _check_engine()
            store = build_model_store()

            def confirm(announced: WantedModel) -> None:
                if not has_consent(announced, yes=yes):
                    raise _without_consent(store, announced)

            download_model(store, self.wanted, confirm, offline=offline, note=print_notes)
        print_notes(f"model: {self.label}")


def choose_model(named: str | None) -> ModelChoice:
    """Return the model of the generator's settings, else the named one, else the default.

    Settings that size or tune the engine name no model: they apply to the one that is chosen.

    Raises:
        InvalidRequest: a model is named, and the settings say which model answers; or the name,
            the file or a setting of the generator is invalid.
        NotFound: there is no such model.
    """
    target = OrchestratorSettings.read().generator_target
    if target != EMBEDDED:
        _check_unnamed(named, "SCAAR_ORCHESTRATOR_GENERATOR_TARGET")
        return ModelChoice(f"that of the generator at {target}")
    settings = GeneratorSettings.read_each()
    given = _CHOOSING & settings.model_fields_set
    if not given or (given == {"engine"} and settings.engine == "llama_cpp"):
        # Settings that do not fit the engine are reported before anything is downloaded.
        GeneratorSettings.read(engine="llama_cpp")
        return _named_choice(named or DEFAULT_MODEL)
    check_together(settings)
    _check_unnamed(named, *(f"SCAAR_GENERATOR_{name.upper()}" for name in sorted(given)))
    if settings.engine == "llama_cpp" and entry_named(settings.model or ""):
        return _named_choice(str(settings.model))
    place = settings.url or settings.model or "its default model"
    return ModelChoice(f"{place} (engine {settings.engine})")


def _check_unnamed(named: str | None, *settings: str) -> None:
    if named is not None:
        text = f"is set by {' and '.join(settings)} too; unset it, or leave {_OPTION} out"
        raise InvalidRequest.of(_OPTION, text)


def _named_choice(named: str) -> ModelChoice:
    store = build_model_store()
    if not named.startswith("hf:") and not is_model_name(named):
        path = store.resolve(named).absolute()
        check_gguf(path)
        return ModelChoice(str(path), _llama_cpp(str(path)))
    stored = store.find(named)
    if stored is not None and stored.is_here():
        return ModelChoice(named, _llama_cpp(named))
    wanted = parse_wanted(named)
    return ModelChoice(wanted.name, _llama_cpp(wanted.name), wanted)


def _llama_cpp(model: str) -> Mapping[str, str]:
    return {_ENGINE: "llama_cpp", _MODEL: model}


def _check_engine() -> None:
    """Check that llama.cpp is here before a model is downloaded for it."""
    if find_spec("xllamacpp") is None:
        text = "engine llama_cpp needs xllamacpp: install scaar[llama-cpp]"
        raise CapabilityMissing(text, engine="llama_cpp")


def _without_consent(store: ModelStore, wanted: WantedModel) -> NotFound:
    """Return the error for a model that is not here, which names those that are."""
    here = [model.name for model in store.installed() if model.is_here()]
    others = f"; or choose one that is here with {_OPTION}: {', '.join(here)}" if here else ""
    text = f"the model {download_facts(wanted)} is not on this machine"
    return NotFound(f"{text}: run {wanted.command()}, or repeat the command with --yes{others}")
