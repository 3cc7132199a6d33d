"""Scripts that write words without spaces between them, as the content of a ``[...]``."""

HAN = (
    "\u2e80-\u2fd5\u3007\u3021-\u3029\u3038-\u303a\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9"
    "\U00020000-\U0003ffff"
)
HIRAGANA = "\u3041-\u3096\u309d-\u309f\U0001b001-\U0001b11f\U0001f200"
KATAKANA = (
    "\u3031-\u3035\u309b\u309c\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357"
    "\uff66-\uff9d"
)

SPACELESS = f"{HAN}{HIRAGANA}{KATAKANA}"
"""Chinese and Japanese."""

DICTIONARY = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer, which need a dictionary to find words."""
