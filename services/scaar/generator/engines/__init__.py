"""The generator's engines: a module each to open it, and the packages that they are made of."""
