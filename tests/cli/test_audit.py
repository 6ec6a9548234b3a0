def test_a_model_is_audited_and_its_bound_stands_beside_its_claim(run):
    result = run("audit", "--model", "queries", "--epsilon", 1, "--runs", 300, "--seed", 1)
    assert result.exit_code == 0
    for told in ("queries", "claimed", "certified", "300", "one row, 2 queries"):
        assert told in result.stdout


def test_an_audit_that_has_little_power_says_why(run):
    result = run("audit", "--model", "linear-learner", "--epsilon", 1, "--runs", 20, "--seed", 1)
    assert "half of the draws, on average, come before the row" in result.stdout


def test_what_cannot_be_audited_is_refused(run):
    assert run("audit", "--model", "queries", "--epsilon", 1, "--runs", 1).exit_code == 2
    assert run("audit", "--model", "queries", "--epsilon", -1).exit_code == 2
