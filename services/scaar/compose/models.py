"""The models of :func:`scaar_home`, for engines that run GGUF files."""

from pathlib import Path

from scaar.compose.targets import scaar_home
from scaar.model_store.store import ModelStore


def build_model_store() -> ModelStore:
    """Return the models in the folder ``models`` of :func:`scaar_home`."""
    return ModelStore(scaar_home() / "models")


def resolve_model(model: str) -> Path:
    """Return the GGUF file of a model's name, or of a path.

    Raises:
        NotFound: the model or its file is not on this machine; the error says what to run.
    """
    return build_model_store().resolve(model)
