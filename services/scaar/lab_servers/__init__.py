"""TGI- and OpenAI-compatible servers over the lab's language model."""
