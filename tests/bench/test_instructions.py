import instructions


def test_only_growth_beyond_a_tenth_is_reported():
    _, grown = instructions.compared(
        {"same": 109, "more": 111, "less": 50, "new": 7}, dict.fromkeys(("same", "more", "less"), 100)
    )
    assert grown == ["more"]
