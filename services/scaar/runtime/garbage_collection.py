"""The garbage collection of a service's process, and the memory that it no longer needs."""

import ctypes
import gc

_YOUNG_OBJECTS = 10_000
"""Number of new objects after which garbage is looked for; Python's default is 700 to 2,000. A call
that is in progress has hundreds, which are looked at every time and are no garbage."""


def exclude_present_objects() -> None:
    """Exclude the objects that exist now from garbage collections, and collect less often.

    Called once a service is open: modules, settings and models live as long as the process, and a
    collection that looks at them stops all calls for 10 to 20 ms.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


def return_free_memory() -> None:
    """Return memory that is free to the system; only glibc keeps it and can.

    Opening a model allocates more than it keeps: the weights as they are in the file, and those
    that were not converted yet.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
