"""dpfast doctor: what a report of a fault should begin with, and whether the kernels agree here."""

import platform
from importlib.metadata import PackageNotFoundError, version

from rich.text import Text

from .report import errors, facts, output, reporting

NEEDED = ("numpy", "scipy", "scikit-learn", "pyarrow", "randomgen", "typer", "rich")
OPTIONAL = {"pandas": "frames of pandas", "polars": "frames of polars", "matplotlib": "pictures: dpfast[plot]"}


def doctor():
    """Show what is installed and in use, and check that all instruction sets learn the same model.

    The exit status is 1 if they do not. Nothing that is shown is private.
    """
    with reporting("the check was not finished"):
        import dpfast
        from dpfast import random
        from dpfast.kernels import cpu
        from dpfast.parts.blocks import threads

        summary = facts()
        summary.add_row("dpfast", _version("dpfast") or "not installed: a folder of its source")
        summary.add_row("", Text(str(dpfast.__path__[0])))
        summary.add_row("Python", f"{platform.python_version()} of {platform.platform()}")
        summary.add_row("instruction set", f"{cpu.level()}; the best here is {cpu.best()}")
        summary.add_row("threads", str(threads()))
        cipher = "AES-128 by its instructions" if random.by_instructions() else "ChaCha20, no instructions for AES"
        summary.add_row("generator", f"{cipher}; keyed from the operating system")
        summary.add_row("needed", ", ".join(f"{name} {_version(name) or '(not installed)'}" for name in NEEDED))
        for name, purpose in OPTIONAL.items():
            summary.add_row(name, Text(f"{_version(name) or 'not installed'} ({purpose})"))
        output.print(summary)

        with errors.status("learning at every instruction set"):
            models = _models_of_levels()
        if len(set(models.values())) > 1:
            raise ValueError(
                f"the kernels are at fault here: {', '.join(models)} do not learn the same list of mushroom"
            )
        output.print(Text(f"The same list of mushroom is learned at {', '.join(models)}."))


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _models_of_levels():
    """Return the list learned from mushroom with one seed, as text, for each level of this machine."""
    import dpfast
    from dpfast.kernels import cpu

    X, y = (dpfast.load_dataset("mushroom")[name] for name in ("data", "target"))
    before, models = cpu.level(), {}
    for level in cpu.LEVELS[: cpu.LEVELS.index(cpu.best()) + 1]:
        cpu.use(level)
        try:
            models[level] = dpfast.DecisionListClassifier(random_state=0).fit(X, y, classes=sorted({*y})).to_text()
        finally:
            cpu.use(before)
    return models
