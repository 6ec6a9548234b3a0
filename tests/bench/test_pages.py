import pages
import pytest

OLD = (
    "Before.\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n\n| c |\n| --- |\n| y |\n\n| a | b |\n| --- | ---: |\n| z | 2 |\n"
)


def test_tables_are_replaced_by_those_of_the_same_header_in_their_order():
    new = [text.replace("1", "3").replace("2", "4") for text in pages.told(OLD) if text.startswith("| a")]
    assert pages.with_tables(OLD, new) == OLD.replace("1", "3").replace("2", "4")


def test_a_table_that_the_records_do_not_have_is_an_error():
    with pytest.raises(ValueError, match=r"no table begins with \| d \|"):
        pages.with_tables(OLD, ["| d |\n| --- |\n| 5 |\n"])


def test_a_figure_is_written_without_its_zero():
    assert pages.figures({"accuracy": 0.8564, "auc": 0.91}) == ".856 / .910"
