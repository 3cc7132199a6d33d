"""Names of officially published files by their SHA-256.

The list contains only files with a published checksum: those of HotpotQA and NQ-open are the
``download_checksums`` of ``hotpot_qa`` and ``nq_open`` in huggingface/datasets. A file with another
checksum may also be official.
"""

from collections.abc import Mapping
from types import MappingProxyType

PUBLISHED: Mapping[str, str] = MappingProxyType(
    {
        "26650cf50234ef5fb2e664ed70bbecdfd87815e6bffc257e068efea5cf7cd316": (
            "hotpot_train_v1.1.json"
        ),
        "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea": (
            "hotpot_dev_distractor_v1.json"
        ),
        "2f1f3e594a3066a3084cc57950ca2713c24712adaad03af6ccce18d1846d5618": (
            "hotpot_dev_fullwiki_v1.json"
        ),
        "c61a5274b9aa6deca3f7d2dc4d7757684c158fbd2264f759307699fb53801c2b": (
            "hotpot_test_fullwiki_v1.json"
        ),
        "f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616": "NQ-open.dev.jsonl",
        "0c93aaf13b12f855628489665e4ef85ffb8573ad444646f11f4fabdc57a0aabf": "NQ-open.train.jsonl",
    }
)
