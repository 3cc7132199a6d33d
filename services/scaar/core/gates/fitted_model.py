"""The model whose answers a gate's file was fitted to."""

from dataclasses import dataclass

from scaar.core.errors import CapabilityMissing
from scaar.core.gates.gate_json import JsonFields
from scaar.core.types import ModelDescription


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A model by name and revision; the revision is empty for engines that report none."""

    name: str
    revision: str

    @classmethod
    def read(cls, fields: JsonFields) -> "FittedModel":
        """Return the model of a gate's file.

        Raises:
            DataCorrupt: a field is missing or wrong; names it.
        """
        return cls(fields.text("model"), fields.text("model_revision"))

    def check(self, gate: str, model: ModelDescription) -> None:
        """Check that a model is this one.

        Raises:
            CapabilityMissing: it is another model, or another revision.
        """
        if (model.model, model.revision) == (self.name, self.revision):
            return
        raise CapabilityMissing(
            f"gate {gate} was fitted to model {_named(self.name, self.revision)}, and the answers "
            f"are those of {_named(model.model, model.revision)}: fit the gate to that model",
            missing="gate_file",
        )


def _named(model: str, revision: str) -> str:
    return f"{model} (revision {revision})" if revision else f"{model} (no revision)"
