"""The plan of the experiment, which was committed before any draft was judged."""

from scaar.lab.models import LAB_LM_FORMS, LAB_LM_FORMS_B

MODELS = (LAB_LM_FORMS, LAB_LM_FORMS_B)
SEED = 2_201
"""World of the drafts. No setting was chosen on it."""
DRAFTS = 60
"""Drafts of every form and model, half about known and half about unknown films."""
RESAMPLES = 1_000
TRIGGERS = ("exp_raw", "surprisal")
"""The primary trigger, that of ``scaar``, and the secondary one."""
SCORER = "scorer"
CONSTANT = "constant"
ARMS = (
    SCORER,
    CONSTANT,
    "permuted",
    "random",
    "idf",
    "content_mask",
    "oracle_mask",
)
RIVALS = (CONSTANT, "idf", "content_mask")
"""A gain of the scorer is claimed only if it beats each of them."""
EQUIVALENCE = 0.01
"""A gain whose interval is within this distance of 0 is no effect of that size."""
POWER = 2.8
"""Standard errors of the smallest effect found in 80% of repetitions at a level of 5%."""
