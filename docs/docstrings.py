"""Whether every public callable says what it takes and what it gives: `python docs/docstrings.py`.

A docstring names every parameter under "Parameters", or under "Attributes" for a class of results, and has "Returns" or
"Yields" if the annotation says that something comes back. Beyond that, numpydoc's validation finds nothing but what the
house leaves open (`OPEN`).
"""

import importlib
import inspect
import sys

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import dpfast

OPEN = {
    "ES01", "EX01", "SA01",  # no extended summary, example or "See Also" where a line says it all
    "PR01", "GL08", "RT01",  # asked for below, of classes of results and of inherited docstrings too
    "PR03", "PR04", "PR07",  # parameters of other functions, in a group: "As in ..."
    "PR08", "RT02", "RT03", "RT04", "RT05", "SS02", "SS03", "SS05",  # names of variables begin in lower case
}  # fmt: skip
UNUSED = {"self", "cls", "refused"}  # `refused` takes sample_weight, to say why it is refused


def public():
    """Every public callable of the package by its full name: functions, classes and their public methods."""
    found = {}
    modules = ["dpfast", *(f"dpfast.{name}" for name in dpfast.__all__ if inspect.ismodule(getattr(dpfast, name)))]
    modules += [f"dpfast.learners.{name}" for name in ("experts", "halfspaces", "lists", "littlestone", "winnow")]
    modules += [f"dpfast.{name}" for name in ("files", "parts", "kernels")]
    for module in dict.fromkeys(modules):
        for name in getattr(importlib.import_module(module), "__all__", ()):
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value):
                for method, function in inspect.getmembers(value, inspect.isroutine):
                    if not method.startswith("_") and str(getattr(function, "__module__", "")).startswith("dpfast"):
                        found[f"{module}.{name}.{method}"] = function
            if callable(value):
                found[f"{module}.{name}"] = value
    return {id(value): (name, value) for name, value in reversed(found.items())}.values()


def faults(name, value):
    """What is wrong with the docstring of one callable, a line each."""
    text = inspect.getdoc(value)
    if not text:
        return ["no docstring"]
    said, found = NumpyDocString(text), []
    sections = ("Parameters", "Other Parameters", "Attributes")
    named = {each.strip().lstrip("*") for part in sections for entry in said[part] for each in entry.name.split(",")}
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # a type that has none
        return found
    if not getattr(value, "_is_protocol", False):
        found += [f"says nothing of {each!r}" for each in signature.parameters if each not in named | UNUSED]
    gives = signature.return_annotation not in (None, "None", inspect.Signature.empty)
    if gives and not inspect.isclass(value) and not (said["Returns"] or said["Yields"]):
        found.append("does not say what it returns")
    return found + [": ".join(error) for error in validate(name)["errors"] if error[0] not in OPEN]


def main():
    checked = sorted(public())
    wrong = [f"{name}: {fault}" for name, value in checked for fault in faults(name, value)]
    print(*wrong, f"{len(checked)} public callables, {len(wrong)} faults in their docstrings", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
