"""Servers, channels, health and settings: knows gRPC, and nothing of question answering."""
