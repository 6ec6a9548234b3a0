"""What only people know of a model: its purpose, owner, data and limits, as they state it in a file of TOML."""

import tomllib
from pathlib import Path
from typing import Any

LONGEST = 4000  # characters of an entry
FIELDS = {  # the heading of each entry, and what it asks for
    "purpose": ("Purpose", "What the model is for: which decision it supports, and for whom."),
    "users": ("Users", "Who is to use it, and how its predictions are looked over by people."),
    "out_of_scope": ("Not meant for", "Uses that it was not made for, or must not be used for."),
    "owner": ("Owner", "Who is responsible for the model."),
    "contact": ("Contact", "Whom to ask, and where to report a fault."),
    "data": ("Data", "Where the rows come from, what a row is, and on which ground they may be used."),
    "period": ("Period", "When the rows were collected."),
    "population": ("Population", "Whom the rows stand for, and who is missing among them."),
    "preparation": ("Preparation", "What was done to the rows before: scaling, selection, missing values."),
    "limits": ("Limits", "Known limits, risks and biases."),
    "ethics": ("Ethics", "Sensitive columns, what a wrong prediction does to a person, and what was done about it."),
    "review": ("Review", "When the model is measured again, and when it is taken out of use."),
    "license": ("License", "The license of the model, as its SPDX identifier, such as apache-2.0."),
}


def template() -> str:
    """Return a file to fill in: every entry with what it asks for, and no answer."""
    lines = ["# About a model, for its page and its card. What is left empty is said to be missing."]
    for name, (_, asks) in FIELDS.items():
        lines += ["", f"# {asks}", f'{name} = ""']
    return "\n".join([*lines, ""])


def read(path: Any) -> dict[str, str]:
    """Return the entries of a file that are filled in; a ValueError refuses others than those of `FIELDS`."""
    try:
        entries = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    try:
        return check(entries)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def check(entries: Any) -> dict[str, str]:
    """Return entries that are filled in, without blanks around them; refuse unknown ones and those that are no text."""
    if not isinstance(entries, dict) or (unknown := [str(name) for name in entries if name not in FIELDS]):
        named = "" if not isinstance(entries, dict) else f", and not {unknown[0]!r:.80}"
        raise ValueError(f"the entries about a model are {', '.join(FIELDS)}{named}; see --about-template")
    for name, value in entries.items():
        if not isinstance(value, str) or len(value) > LONGEST:
            raise ValueError(f"{name} must be a text of at most {LONGEST:,} characters, got {value!r:.80}")
    return {name: value.strip() for name, value in entries.items() if value.strip()}


def stated(model: Any) -> dict[str, str]:
    """Return what was stated about a fitted model."""
    return (getattr(model, "_facts", None) or {}).get("about", {})


def missing(model: Any) -> list[str]:
    """Return the headings of what nobody has stated about a fitted model."""
    entries = stated(model)
    return [heading for name, (heading, _) in FIELDS.items() if name not in entries]


def budget_of(model: Any) -> dict[str, Any] | None:
    """Return what the table had spent in all after the charge for a model, None if the fit had no budget."""
    return (getattr(model, "_facts", None) or {}).get("budget")


def check_budget(entries: Any) -> None:
    """Refuse what cannot be the statement of a budget."""
    numbers = {"epsilon", "delta", "spent epsilon", "spent delta", "count"}
    texts = {"neighbors", "unit", "composition", "time"}
    charges = entries.get("charges") if isinstance(entries, dict) else None
    if not isinstance(charges, list) or not {*entries} <= {*numbers, *texts, "charges"}:
        raise ValueError(f"a budget must have its totals and charges, got {entries!r:.200}")
    for part in ({name: each for name, each in entries.items() if name != "charges"}, *charges):
        if not isinstance(part, dict) or not all(
            type(each) is str if name in {*texts, "what", "part"} else type(each) in (int, float) and each >= 0
            for name, each in part.items()
        ):
            raise ValueError(f"a budget must have numbers and texts by their names, got {part!r:.200}")


def budget_in_words(entries: dict[str, Any] | None) -> str:
    """Return what a budget says of the whole table, or that nothing is known beyond this model."""
    if entries is None:
        return (
            "The fit had no budget: the claim is for this model alone. What else was released from the same rows is "
            "not known here, and adds to it."
        )
    one, many = "person" if entries["unit"] == "person" else "row", entries["count"]
    spent, most = (
        f"({entries[f'{name}epsilon']:.6g}, {entries[f'{name}delta']:.6g})" + "-DP" * (name != "")
        for name in ("spent ", "")
    )
    return (
        f"By the budget of the table, {many:,} charge{'s' * (many != 1)} had been made when this model was paid for, "
        f"this one included ({entries['time']}): together {spent} for one {one}, of at most {most}. Later charges are "
        "not known here."
    )
