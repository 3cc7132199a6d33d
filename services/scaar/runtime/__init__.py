"""Servers, channels, health and settings of gRPC services, independent of question answering."""
