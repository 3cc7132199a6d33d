"""The domain, pure: no input or output, no gRPC, no library but the standard one."""
