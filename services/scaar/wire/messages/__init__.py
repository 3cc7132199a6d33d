"""Lossless conversion between domain values and messages of the contract.

``codec`` converts every type by the names of its fields. A value that a message or the domain
cannot contain (an unknown enum value, a number that is not finite) is an ``InvalidRequest`` that
names the field.
"""
