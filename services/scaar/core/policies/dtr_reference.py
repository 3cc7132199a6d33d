"""``dtr`` as in the code of its authors, ChenWangHKU/DTR: passages are ranked by s1 + s2."""

from dataclasses import replace

from scaar.core.policies.dtr import DTR
from scaar.core.types import Fusion

DTR_REFERENCE = replace(DTR, name="dtr_reference", fusion=Fusion.SUM)
