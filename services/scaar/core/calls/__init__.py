"""Calls to back ends: their deadline, breakers and admission."""
