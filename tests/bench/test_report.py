import pytest
import report


def benchmark(group, name, median, level=None, **extra):
    return {
        "group": group,
        "name": name + (f"[{level}]" if level else ""),
        "params": {"isa": level} if level else None,
        "extra_info": extra,
        "stats": {"median": median},
    }


def test_a_ratio_is_for_the_same_amount_of_work():
    (line,) = report.lines([benchmark("g", "test_dpfast_add", 2.0, work=8), benchmark("g", "test_numba", 1.0)])
    assert line["peers"] == [{"name": "numba", "seconds": 1.0, "ratio": 4.0}]


def test_lines_race_within_their_group_and_not_each_other():
    found = report.lines(
        [
            benchmark("a", "test_dpfast_x", 1.0),
            benchmark("a", "test_dpfast_y", 2.0),
            benchmark("a", "test_peer", 6.0),
            benchmark("b", "test_other", 1.0),
        ]
    )
    assert [(line["line"], [peer["ratio"] for peer in line["peers"]]) for line in found] == [("x", [6.0]), ("y", [3.0])]


def test_levels_become_one_line_of_the_best():
    levels = {"scalar": 9.0, "avx2": 6.0, "avx512": 3.0}
    run = report.lines([benchmark("g", "test_dpfast_x", median, level) for level, median in levels.items()])
    (line,) = report.merged({"1": run})
    assert (line["level"], line["seconds"]) == ("avx512", 3.0)
    assert line["slower"] == pytest.approx({"scalar": 3.0, "avx2": 2.0})


def test_more_threads_count_where_the_pool_is_used():
    def run(median, pooled):
        return report.lines([benchmark("g", "test_dpfast_x", median, pooled=pooled)])

    assert report.merged({"1": run(4.0, True), "2": run(3.0, True)})[0]["threads"] == {"1": 4.0, "2": 3.0}
    assert report.merged({"1": run(4.0, False), "2": run(3.0, False)})[0]["threads"] == {"1": 4.0}


def test_a_title_keeps_parameters_that_are_not_the_level():
    line = benchmark("g", "test_dpfast_whole_run", 1.0) | {"name": "test_dpfast_whole_run[avx2-1e+05]"}
    assert report.title(line | {"params": {"isa": "avx2", "n": 1e5}}) == "whole run [1e+05]"
