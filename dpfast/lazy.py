"""Packages whose public names load when first used, by the stubs that type checkers read."""

import sys
from importlib import import_module


def attach(package, file):
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    The stub `__init__.pyi` beside `file` has a line for each public name, `from .home import name as name`.
    """
    homes = {}
    with open(f"{file.rpartition('.')[0]}.pyi", encoding="utf-8") as stub:
        for line in stub:
            if line.startswith("from ."):
                home, name = line.split()[1:4:2]
                homes[name] = home

    def load(name):
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == ".":
            return import_module(f".{name}", package)
        value = getattr(import_module(home, package), name)
        setattr(sys.modules[package], name, value)
        return value

    def names():
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names, [*homes]
