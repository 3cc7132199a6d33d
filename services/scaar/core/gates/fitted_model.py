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

    @property
    def label(self) -> str:
        """The model with its revision, for messages."""
        return f"{self.name} ({f'revision {self.revision}' if self.revision else 'no revision'})"

    def check(self, gate: str, model: ModelDescription) -> None:
        """Check that a model is this one.

        Raises:
            CapabilityMissing: it is another model, or another revision.
        """
        serving = FittedModel(model.model, model.revision)
        if serving == self:
            return
        raise CapabilityMissing(
            f"gate {gate} was fitted to model {self.label}, and the answers "
            f"are those of {serving.label}: fit the gate to that model",
            missing="gate_file",
        )
