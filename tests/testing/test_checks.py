"""`check_private_estimator` finds nothing wrong with the learners of dpfast, and every planted fault."""

from dataclasses import dataclass

import numpy as np
import pytest
from people import people
from sound_learners import Counts, histogram

import dpfast
from dpfast.base import (
    GaussianSum,
    IntArray,
    Model,
    Plan,
    PrivateClassifier,
    estimator,
    sqrt_up,
)
from dpfast.testing import check_private_estimator, checks

LEARNERS = {
    "boosted": dpfast.BoostedHalfspaceClassifier(n_rounds=3, density=0.9),
    "finite class": dpfast.FiniteClassLearner(),
    "finite class with probabilities": dpfast.FiniteClassLearner(probability_share=0.1),
    "halfspace": dpfast.HalfspaceClassifier(n_rounds=3),
    "linear learner": dpfast.LinearLearner(),
    "list": dpfast.DecisionListClassifier(threshold=0.5, max_rules=4),
    "net": dpfast.NetHalfspaceClassifier(n_components=2, net_radius=0.5),
    "net with probabilities": dpfast.NetHalfspaceClassifier(n_components=2, net_radius=0.5, probability_share=0.1),
    "projected": dpfast.ProjectedHalfspaceClassifier(n_rounds=3),
    "projected to few components": dpfast.ProjectedHalfspaceClassifier(n_components=2, n_rounds=3),
    "winnow": dpfast.DPWinnowClassifier(n_updates=3),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_learners_of_dpfast_pass(name):
    check_private_estimator(LEARNERS[name])


# ---- a learner as the page has it, and its faults -------------------------------------------------------------------


@estimator
class Sound(PrivateClassifier):
    """A learner without a fault."""

    def plan(self, task):
        moves = sqrt_up(task.changed_rows * task.n_columns)
        return Plan(histogram=GaussianSum(moves, size=task.n_codes * task.n_classes))

    def learn(self, rows, plan, run) -> Counts:
        return Counts(run.release("histogram", rows.sum(histogram, rows.n_classes)), rows.sizes)


@estimator
class NoiseForgotten(Sound):
    """Publishes exact counts."""

    def learn(self, rows, plan, run) -> Counts:
        run.release("histogram", rows.sum(histogram, rows.n_classes))
        return Counts(rows.sum(histogram, rows.n_classes), rows.sizes)


@estimator
class OwnNoise(Sound):
    """Draws noise of its own."""

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        return Counts(exact + np.random.default_rng(0).integers(-9, 9, exact.shape), rows.sizes)


@estimator
class ValueInAnAttribute(Sound):
    """Remembers how many rows have the first code."""

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        self.seen = int(exact[0].sum())
        return Counts(run.release("histogram", exact), rows.sizes)


@estimator
class TwiceTheSensitivity(Sound):
    """Counts every row twice."""

    def learn(self, rows, plan, run) -> Counts:
        return Counts(run.release("histogram", 2 * rows.sum(histogram, rows.n_classes)), rows.sizes)


@estimator
class RelationForgotten(Sound):
    """Plans for rows that are added, also where they are replaced."""

    def plan(self, task):
        return Plan(histogram=GaussianSum(sqrt_up(task.n_columns), size=task.n_codes * task.n_classes))


@estimator
class RoundsByRows(Sound):
    """Makes as many rounds as the rows ask for."""

    def plan(self, task):
        return Plan(histogram=GaussianSum(sqrt_up(task.changed_rows * task.n_columns), times=99, size=9999))

    def learn(self, rows, plan, run) -> Counts:
        exact, total = rows.sum(histogram, rows.n_classes), 0
        for _ in range(int(exact[0, 0])):
            total = total + run.release("histogram", exact)
        return Counts(np.asarray(total + 0 * exact), rows.sizes)


@estimator
class OnceTooOften(Sound):
    """Makes a release more than planned."""

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        run.release("histogram", exact)
        return Counts(run.release("histogram", exact), rows.sizes)


@estimator
class UncountedReleases(Sound):
    """Makes releases that count as none."""

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        run.release("histogram", exact, times=0)
        return Counts(run.release("histogram", exact), rows.sizes)


@estimator
class RefusesRows(Sound):
    """Refuses rows after the charge."""

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        if exact[0, 0] == 0:
            raise ValueError("no row has the first code")
        return Counts(run.release("histogram", exact), rows.sizes)


@dataclass(frozen=True)
class Unsaved(Model):
    counts: IntArray

    def scores(self, rows):
        return np.resize(self.counts, len(rows)).astype(float)

    def to_dict(self):
        return {"counts": [0] * len(self.counts)}


@estimator
class LosesItsModel(Sound):
    """Writes other counts to its file."""

    def learn(self, rows, plan, run) -> Unsaved:
        return Unsaved(run.release("histogram", rows.sum(histogram, rows.n_classes)).ravel())


@estimator
class LosesRounds(Sound):
    """Has a model only after all rounds."""

    def plan(self, task):
        moves = sqrt_up(task.changed_rows * task.n_columns)
        return Plan(histogram=GaussianSum(moves, size=task.n_codes * task.n_classes, times=3))

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        return Counts(sum(run.release("histogram", exact) for _ in run.rounds("histogram")), rows.sizes)


@estimator
class LosesReleases(LosesRounds):
    """Has a model only after all releases, and does not ask the run for rounds."""

    def learn(self, rows, plan, run) -> Counts:
        exact = rows.sum(histogram, rows.n_classes)
        return Counts(sum(run.release("histogram", exact) for _ in range(3)), rows.sizes)


@estimator
class KeepsReleases(LosesRounds):
    """Makes three releases, each of which makes a model."""

    def learn(self, rows, plan, run) -> Counts:
        exact, total = rows.sum(histogram, rows.n_classes), 0
        for _ in range(3):
            total = total + run.release("histogram", exact)
            run.model = Counts(total, rows.sizes)
        return run.model


@dataclass(frozen=True)
class OneScore(Counts):
    """Has one score for each row."""

    def log_odds(self, rows):
        return super().log_odds(rows)[:, 1]


@estimator
class OneScoreForThreeClasses(Sound):
    """Reads several classes, and tells two of them apart."""

    def learn(self, rows, plan, run) -> OneScore:
        return OneScore(run.release("histogram", rows.sum(histogram, rows.n_classes)), rows.sizes)


@dataclass(frozen=True)
class TwoColumns(Counts):
    """Loses the counts of the third class in a file."""

    def to_dict(self):
        counts = self.counts.copy()
        counts[:, 2:] = 0
        return super().to_dict() | {"counts": counts.tolist()}


@estimator
class LosesAClass(Sound):
    """Writes the counts of two classes to its file."""

    def learn(self, rows, plan, run) -> TwoColumns:
        return TwoColumns(run.release("histogram", rows.sum(histogram, rows.n_classes)), rows.sizes)


FAULTS = {
    NoiseForgotten: ("replays", "replay"),
    OwnNoise: ("replays", "replay"),
    ValueInAnAttribute: ("replays", "seen"),
    TwiceTheSensitivity: ("replays", "moved by at most"),
    RelationForgotten: ("replays", "moved by at most"),
    RoundsByRows: ("replays", "replay"),
    OnceTooOften: ("names", "planned 1 times"),
    UncountedReleases: ("names", "planned 1 times, and was released 0 times"),
    RefusesRows: ("replays", "refused after it charged|no row has the first code"),
    LosesReleases: ("interruptions", "interruption .*: what was released before is lost"),
    LosesRounds: ("interruptions", "interruption: a round would be lost"),
    OneScoreForThreeClasses: ("classes", r"classes \(three classes\): decision_function must have shape"),
    LosesAClass: ("files", r"files \(three classes\): the file"),
    LosesItsModel: ("files", r"files \(bits\): the file"),
}


def test_a_sound_learner_of_several_releases_passes_all_checks():
    tried = check_private_estimator(KeepsReleases()).tried
    assert [each.partition(" of ")[0] for each in tried] == [
        each.__name__.removeprefix("check_") for each in checks.CHECKS
    ]


@pytest.mark.parametrize("learner", FAULTS, ids=lambda each: each.__name__)
def test_a_planted_fault_is_found_by_its_check(learner):
    check, message = FAULTS[learner]
    with pytest.raises(Exception, match=message):
        getattr(checks, f"check_{check}")(learner())


def test_what_a_learner_raises_is_a_failed_check():
    with pytest.raises(AssertionError, match=r"names: a fit or a prediction fails: .* planned 1 times"):
        check_private_estimator(OnceTooOften())


# ---- a learner by composition ---------------------------------------------------------------------------------------


def test_sums_of_a_learner_share_the_bill_of_the_discovery():
    """Whoever splits epsilon and delta pays more noise than the squares of mu ask for."""
    table = people(3000)
    X, y = table.drop(columns="buys"), table["buys"]
    model = Sound(random_state=0).fit(X, y, classes=["no", "yes"])
    assert {cost.kind for cost in model.privacy_.cost} <= {"gaussian", "pair"}
    assert model.privacy_.cost[0].kind == "gaussian"
    assert model.encoder_.privacy_.epsilon == 1.0


@pytest.mark.parametrize(
    "learner",
    [
        dpfast.HalfspaceClassifier,
        dpfast.DecisionListClassifier,
        dpfast.BoostedHalfspaceClassifier,
        dpfast.ProjectedHalfspaceClassifier,
        dpfast.NetHalfspaceClassifier,
        dpfast.DPWinnowClassifier,
        dpfast.FiniteClassLearner,
        dpfast.LinearLearner,
        Sound,
    ],
)
def test_a_learner_has_few_classes_of_ours_above_it_and_no_flag_that_a_base_reads(learner):
    above = [each for each in learner.__mro__ if each.__module__.startswith("dpfast")]
    assert len(above) <= 5
    flags = {"_reads_parts", "_merges_bins", "_one_bill", "_open_share", "_discovery_share", "_numbers"}
    flags |= {"_of_vectors", "_surveys_arrays", "_read_by", "_not_saved", "_only_clips"}
    flags |= {"_learn", "_publish", "_spends", "_released_counts", "_tabled"}
    flags |= {"_document", "_released", "_restore", "_restore_encoder", "_restore_entries"}  # of its saver
    flags |= {"_width", "_names", "_stated", "_reliability"}  # of its reader and its reporter
    assert not flags & {name for each in above for name in vars(each)}


def test_a_model_is_a_value():
    counts = np.arange(6).reshape(3, 2)
    model = Counts(counts, (1, 2))
    assert model == Counts(counts.copy(), (1, 2)) == Counts.from_dict(model.to_dict())
    assert model != Counts(counts + 1, (1, 2))
    assert model != 3
    with pytest.raises(ValueError, match="read-only"):
        model.counts[0] = 9
    for damaged, message in [
        ({"counts": [[1]]}, "wanted the entries counts, sizes"),
        ({"counts": [[1.5]], "sizes": [1]}, "counts must be an array of numbers"),
        ({"counts": [[1], [2, 3]], "sizes": [1]}, "counts must be an array of numbers"),
        ({"counts": [[2**70]], "sizes": [1]}, "counts must hold 64-bit integers"),
        ({"counts": [[1]], "sizes": [True]}, "sizes must be int"),
        ({"counts": [[1]], "sizes": 3}, "sizes must be a list"),
    ]:
        with pytest.raises(ValueError, match=message):
            Counts.from_dict(damaged)


@estimator
class Unannotated(Sound):
    """Does not say of which class its models are."""

    def learn(self, rows, plan, run):
        return super().learn(rows, plan, run)


def test_a_file_names_the_class_of_a_model_that_its_learner_does_not(tmp_path):
    checks.check_files(Unannotated())
    X, y = np.eye(4), [0, 1, 0, 1]
    model = Unannotated(random_state=0).fit(X, y, classes=[0, 1])
    model.save(tmp_path / "m.json")
    assert dpfast.load(tmp_path / "m.json").model_ == model.model_
    content = (tmp_path / "m.json").read_text()
    assert '"Counts"' in content
