"""Gates and routers, trained on answers without and with retrieval, and compared."""
