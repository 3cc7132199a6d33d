"""Chat templates of four model families, and the text of a turn in each."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LLAMA = """\
{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = strftime_now("%Y") %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- system + "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""
CHATML = """\
{%- if tools %}
    {{- '<tools>' + (tools | tojson) + '</tools>' }}
{%- endif %}
{% for message in messages %}
{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' }}
{% endfor %}
{% if add_generation_prompt %}
{{ '<|im_start|>assistant' }}
{% endif %}
"""
MISTRAL = """\
{{ bos_token }}{% for message in messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Roles must alternate user/assistant/user/...') }}
{%- endif %}
{%- if message['role'] == 'user' %}
{{- '[INST] ' + message['content'] + ' [/INST]' }}
{%- else %}
{%- generation %}{{- message['content'] + eos_token }}{% endgeneration %}
{%- endif %}
{%- endfor %}"""
GEMMA = """\
{{ bos_token }}
{%- for message in messages %}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] %}
    {%- if role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
    {{- '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""


@dataclass(frozen=True)
class Family:
    """A template with its tokens, the text around a prompt, and the texts that end turns.

    ``system`` are the texts around text of the system, up to the prompt; None without such a turn.
    """

    name: str
    template: str
    before: str
    after: str
    markers: tuple[str, ...]
    config: dict[str, Any] = field(default_factory=dict)
    system: tuple[str, str] | None = None

    def put(self, folder: Path, *, own_file: bool = False) -> Path:
        """Write the files of a model with this template into the folder."""
        config = dict(self.config)
        if own_file:
            (folder / "chat_template.jinja").write_text(self.template)
        else:
            config["chat_template"] = self.template
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
        return folder


FAMILIES = (
    Family(
        "llama",
        LLAMA,
        before=(
            "<|start_header_id|>system<|end_header_id|>\n\n<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\n"
        ),
        after="<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        markers=("<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>", "<|reserved_9|>"),
        config={
            "bos_token": "<|begin_of_text|>",
            "eos_token": "<|eot_id|>",
            "added_tokens_decoder": {"9": {"content": "<|reserved_9|>", "special": True}},
        },
        system=(
            "<|start_header_id|>system<|end_header_id|>\n\n",
            "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n",
        ),
    ),
    Family(
        "chatml",
        CHATML,
        before="<|im_start|>user\n",
        after="<|im_end|>\n<|im_start|>assistant\n",
        markers=("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tools>", "</tools>"),
        config={
            "bos_token": None,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
        },
        system=("<|im_start|>system\n", "<|im_end|>\n<|im_start|>user\n"),
    ),
    Family(
        "mistral",
        MISTRAL,
        before="[INST] ",
        after=" [/INST]",
        markers=("[INST]", "[/INST]", "</s>", "<s>"),
        config={
            "add_bos_token": True,
            "bos_token": {"content": "<s>", "lstrip": False},
            "eos_token": "</s>",
        },
    ),
    Family(
        "gemma",
        GEMMA,
        before="<start_of_turn>user\n",
        after="<end_of_turn>\n<start_of_turn>model\n",
        markers=("<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>"),
        config={"add_bos_token": True, "bos_token": "<bos>", "eos_token": "<eos>"},
    ),
)
