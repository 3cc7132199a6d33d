"""Client side of OpenAI-compatible servers: requests, chunks, dialects, failures, chats."""
