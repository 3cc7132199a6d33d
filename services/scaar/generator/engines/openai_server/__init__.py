"""A server of OpenAI's interface, as a client sees it: chunks, dialects, failures, chats."""
