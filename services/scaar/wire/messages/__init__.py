"""The domain's values as messages of the contract and back, exactly.

``<thing>_to_pb`` and ``<thing>_from_pb`` come in pairs. What a message cannot say right (an enum
value that is not known, a number that is none) is an ``InvalidRequest`` naming the field.
"""
