"""The loops themselves: thin, checked entry points to the C kernels.

Each module is one noun of csrc/ and knows dtypes and shapes, not epsilon. Arguments are checked here and only here: an
invalid one raises ValueError or TypeError before anything is drawn or changed.

Each module's documentation begins with what it does; docs/kernels_modules.md lists their functions with what they cost.
"""

from importlib.util import find_spec

if find_spec("dpfast.kernels.cpu") is None:
    raise ImportError(
        "this folder is the source of dpfast, whose kernels are not built: run `pip install -e .` in its checkout, or "
        "start Python elsewhere to get the installed package"
    )
