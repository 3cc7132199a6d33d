"""Property tests are deterministic, and slow machines do not fail them."""

from hypothesis import settings

settings.register_profile("scaar", derandomize=True, deadline=None, database=None)
settings.load_profile("scaar")
