"""The gateway: HTTP, MCP and gRPC-Web in front of an orchestrator."""
