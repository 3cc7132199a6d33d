"""The policy that answers from a folder of documents, where nothing names one."""

from scaar.core.policies.verified import VERIFIED
from scaar.orchestrator.settings import OrchestratorSettings


def documents_policy_settings() -> dict[str, str]:
    """Return the default policy of the orchestrator as variables; none if a setting names it.

    One search before writing is right more often on small models than every published trigger;
    what the passages read do not have is looked up again, or not given (docs/laptop.md). Neither
    needs a scorer.

    Raises:
        InvalidRequest: a setting of the orchestrator is invalid.
    """
    if "default_policy" in OrchestratorSettings.read().model_fields_set:
        return {}
    return {"SCAAR_ORCHESTRATOR_DEFAULT_POLICY": VERIFIED.name}
