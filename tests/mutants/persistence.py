# ruff: noqa: E501
"""Mutants of files: models, checkpoints, readers, the command line."""

from mutant import Mutant

_MODELS, _CHECKPOINT = "test_persistence.py", "learners/winnow/test_checkpoint.py"


def _m(name, file, old, new, tests):
    return Mutant(name, f"dpfast/{file}.py", old, new, tests)


MUTANTS = [
    _m("save: not atomic", "tables/replacing", "        os.replace(partial, path)\n", "        Path(path).write_bytes(partial.read_bytes())\n", _MODELS),
    _m("save: file not on the disk", "tables/replacing", "                os.fsync(file.fileno())\n", "", _MODELS),
    _m("save: folder not on the disk", "tables/replacing", "                os.fsync(folder)\n", "                pass\n", _MODELS),
    _m("save: the seed is saved", "base/parameters", "each.init and not is_saved(each)", "each.init and each.name != 'random_state' and not is_saved(each)", _MODELS),
    _m("save: parameters as edited since", "base/saving", "charged.get(name, parameters[name])", "parameters[name]", "accounting/test_warning.py"),
    _m("load: the digest not looked at", "base/saving", "if number > 1 and digest != _digest(document):", "if False:", _MODELS),
    _m("load: newer versions", "base/saving", "    if number > FORMAT_VERSION:\n", "    if number > FORMAT_VERSION + 100:\n", _MODELS),
    _m("load: versions below one", "base/saving", "type(number) is not int or number < 1", "type(number) is not int", _MODELS),
    _m("load: an entry twice", "base/saving", "    if len(document) < len(pairs):\n", "    if False:\n", _MODELS),
    _m("load: a claim that the parameters do not make", "persistence", "    if claimed != stated:\n", "    if False:\n", _MODELS),
    _m("load: a budget or a seed from the file", "persistence", "    if foreign:\n", "    if False:\n", _MODELS),
    _m("load: any encoding", "persistence", '    if not _ENCODING.fullmatch(text.get("encoding", "utf-8")):\n', "    if False:\n", _MODELS),
    _m("predict: text not as the fit read it", "cli/files", "    defaults = {name: value for name, value in settings.items() if declared[name] is None}\n", "    defaults = {}\n", "cli/test_predict.py"),
    _m("load: numbers that are none", "base/saving", "    if not (np.abs(array) <= LARGEST_NUMBER).all():  # nor NaN\n", "    if False:\n", _MODELS),
    _m("load: integers of any size", "base/saving", "type(saved) is not int or not least <= saved <= most", "type(saved) is not int", _MODELS),
    _m("load: an error of another kind", "persistence", "except _FAULTS as error:", "except ValueError as error:", _MODELS),
    _m("checkpoint: for all to read", "learners/winnow/checkpoint", "_MODE = 0o600", "_MODE = 0o644", _CHECKPOINT),
    _m("checkpoint: the digest not looked at", "learners/winnow/checkpoint", "if content[-_DIGEST:] != _digest([body]):", "if False:", _CHECKPOINT),
    _m("checkpoint: an older copy", "learners/winnow/checkpoint", "if self._generation < latest:", "if False:", _CHECKPOINT),
    _m("checkpoint: the lock stays behind after a kill", "learners/winnow/checkpoint", "            self._lock.keep(self._generation, self._id)  # which", "            pass  # which", _CHECKPOINT),
    _m("checkpoint: older content of the lock", "learners/winnow/checkpoint", "generations += [int(noted)] * (stream == name)", "pass", _CHECKPOINT),
    _m("checkpoint: a new stream overwrites", "learners/winnow/checkpoint", "        if path.exists():\n", "        if False:\n", _CHECKPOINT),
    _m("checkpoint: exponent believed", "learners/winnow/streaming", "            if not math.isclose(document[name], getattr(plan, name), rel_tol=1e-9):\n", "            if False:\n", _CHECKPOINT),
    _m("save: into a file that somebody has open", "tables/replacing", " | os.O_EXCL", "", _MODELS),
    _m("checkpoint: what a kill left stays", "learners/winnow/checkpoint", "            partial.unlink()\n", "            pass\n", _CHECKPOINT),
    _m("readers: arrays that expand without end", "files/npz", "                check_expansion(part.file_size, part.compress_size)\n", "                pass\n", "files/test_readers.py"),
    _m("readers: pickles allowed", "files/npz", "allow_pickle=False", "allow_pickle=True", "files"),
    _m("figures: three releases paid as two", "cli/figures", "whole / (len(shows) + len(by))", "whole / (len(shows) - 1 + len(by))", "cli/test_fit.py"),
    _m("figures: groups that cost nothing", "cli/figures", "whole / (len(shows) + len(by))", "whole / len(shows)", "cli/test_by.py"),
    _m("figures: rows of a unit counted as one", "metrics/figure", "added) * (rows_per_unit or 1)", "added)", "cli/test_small_scores.py"),
    _m("figures: a budget of rows charged for persons", "metrics/figure", "\"neighbors\": neighbors, \"unit\": unit}", "\"neighbors\": neighbors}", "cli/test_small_scores.py"),
    _m("page: a chance of guessing rounded down", "report/html", "wrong.quantize(digits, ROUND_FLOOR)", "wrong.quantize(digits, ROUND_CEILING)", "report/test_page.py"),
    _m("page: a guess without delta", "report/html", "100 * (1 - _exact(privacy.delta)) / (odds + 1)", "100 / (odds + 1)", "report/test_page.py"),
    _m("fit: times for everyone", "cli/fit", "    if show_private:\n        seconds", "    if True:\n        seconds", "cli/test_fit.py"),
]  # fmt: skip
