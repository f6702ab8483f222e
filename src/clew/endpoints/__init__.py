"""What adapters of OpenAI-compatible servers share: the client, its errors, and chat with what servers
understand in their own ways. The ``openai`` package (extra ``llm``) is imported when a call is made."""
