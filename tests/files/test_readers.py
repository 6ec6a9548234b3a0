import bz2
import gzip
import tracemalloc
import warnings
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from dpfast import HalfspaceClassifier, PrivacyWarning
from dpfast.files import FileParts, csv, entries, names, svmlight
from dpfast.files.readers import read_steps, read_table
from dpfast.tables import BitMatrix

GOOD = "wet,cold,tree\n1,0,oak\n0,1,elm\n1,1,oak\n"
BITS = [[1, 0], [0, 1], [1, 1]]


@pytest.fixture
def write(tmp_path):
    def write(text, name="trees.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def refusal(path, **options):
    with pytest.raises(ValueError, match=path.name) as refused:
        read_table(path, **options)
    return str(refused.value)


def test_a_csv_file_gives_bits_names_and_labels(write):
    X, y, _ = read_table(write(GOOD), label="tree")
    assert X.toarray().tolist() == np.array(BITS, bool).tolist()
    assert X.feature_names == ["wet", "cold"]
    assert y.tolist() == ["oak", "elm", "oak"]


def test_without_a_label_every_column_is_a_feature(write):
    X, y, _ = read_table(write("a,b\n1,0\n0,0\n"))
    assert X.feature_names == ["a", "b"]
    assert y is None


def test_needed_labels_are_asked_for_by_naming_the_columns(write, tmp_path):
    said = refusal(write(GOOD), needs_label=True)
    assert "which column holds the labels (--label); the columns are wet, cold, tree" in said
    np.savez(tmp_path / "t.npz", X=np.eye(2), who=np.arange(2))
    assert "no array 'y' to take labels from; there is who" in refusal(tmp_path / "t.npz", needs_label=True)


@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_the_label_column_may_stand_anywhere(write, where):
    order = {"first": [2, 0, 1], "middle": [0, 2, 1], "last": [0, 1, 2]}[where]
    lines = [",".join(np.array(line.split(","))[order]) for line in GOOD.split()]
    X, y, _ = read_table(write("\n".join(lines)), label="tree")
    assert X.toarray().astype(int).tolist() == BITS
    assert y.tolist() == ["oak", "elm", "oak"]


def test_labels_of_files_without_types_are_texts_whatever_all_of_them_look_like(write):
    for cells in (["1", "-1"], ["1", "x"], ["1", "01"], ["1", "9" * 30], ["1", " 1"]):
        y = read_table(write("a,y\n" + "".join(f"1,{cell}\n" for cell in cells)), label="y").y
        assert (y.kind, y.dtype.kind, y.tolist()) == (None, "U", cells)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [("int32", [1, 2]), ("string", ["1", "2"]), ("bool_", [True, False]), ("float64", [1.0, 2.0])],
)
def test_labels_of_parquet_have_the_type_of_their_column(kind, cells, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for some in (cells, [*cells, None]):
        y = pa.array(some, getattr(pa, kind)())
        parquet.write_table(pa.table({"a": pa.array([0.5] * len(y)), "y": y}), tmp_path / "t.parquet")
        y = read_table(tmp_path / "t.parquet", label="y", values="numbers").y
        assert y.tolist() == some
        assert y.spellings.dtype.kind == np.array(cells).dtype.kind


def test_spreadsheet_marks_quotes_blank_lines_and_true_and_false_are_read(write):
    X, y, _ = read_table(write('\ufeff"a, b",c,y\r\nTrue,"0",1\r\n\r\nFALSE,1,2\r\n\r\n'), label="y")
    assert X.feature_names == ["a, b", "c"]
    assert X.toarray().astype(int).tolist() == [[1, 0], [0, 1]]
    assert y.tolist() == ["1", "2"]


def test_tabs_and_compression_are_known_by_the_ending(write):
    expected = read_table(write(GOOD), label="tree")
    for path in (
        write(GOOD.replace(",", "\t"), "trees.tsv"),
        write(gzip.compress(GOOD.encode()), "trees.csv.gz"),
        write(bz2.compress(GOOD.encode()), "trees.csv.bz2"),
        write(pa.compress(GOOD.encode(), "zstd", asbytes=True), "trees.csv.zst"),
        write(GOOD, "TREES.CSV"),
    ):
        X, y, _ = read_table(path, label="tree")
        assert (X.rows == expected.X.rows).all()
        assert (y == expected.y).all()


def test_a_table_of_many_blocks_is_read_whole(write, rng, monkeypatch):
    monkeypatch.setattr(entries, "BLOCK_BYTES", 8 * 4 * 7)  # seven rows to a block
    for n in (69, 70, 71):
        table, y = rng.integers(0, 2, (n, 3)), rng.integers(0, 5, n)
        text = "a,b,c,y\n" + "\n".join(",".join(map(str, row)) for row in np.c_[table, y])
        X, labels, _ = read_table(write(text), label="y")
        assert (X.toarray() == table).all()
        assert (labels == y.astype(str)).all()


def test_a_threshold_turns_numbers_into_bits_exactly(write):
    path = write("a,b,y\n0.1,2,1\n0.1000000001,-3e2,2\n")
    assert read_table(path, label="y", threshold=0.1).X.toarray().astype(int).tolist() == [[0, 1], [1, 0]]
    assert read_table(path, label="y", threshold=[0, 5]).X.toarray().astype(int).tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,y\n1,0,u\n\n0,red,v\n", "line 4, column 'b' holds another value; features are 0 or 1"),
        ("a,b,y\n1,0,u\n0,2,v\n", "line 3, column 'b' holds another value; .* with a threshold"),
        ("a,b,y\n1,0,u\n0,nan,v\n", "line 3, column 'b' holds another value"),
        ("a,b,y\n1,0,u\n,1,v\n", "line 3, column 'a' is empty; fill missing values in"),
        ("a,b,y\n1,0,u\n0,1\n", "line 3 has 2 cells, the header row 3"),
        ("a,b,y\n1,0,u,7\n0,1,v,7\n", "line 2 has 4 cells, the header row 3"),
        ("a,b,class\n1,0,u\n", "no column 'y' to take labels from; there is a, b, class"),
        ("0,0,1\n1,0,1\n", "two columns have the name '0'; the first row must name the columns"),
        ("a;b;y\n1;0;u\n", "one column, 'a;b;y'; columns must be separated by commas"),
        ("y\nu\n", "no column besides the label"),
        ("", "the file is empty"),
        (b"a,y\n1,\xff\n", "not UTF-8 text"),
    ],
)
def test_a_messy_csv_file_is_refused_with_the_place_and_what_was_seen(write, text, said):
    with pytest.raises(ValueError, match="trees.csv.*" + said):
        read_table(write(text), label="y")


def test_what_is_not_a_number_is_refused_with_a_threshold_too(write):
    assert "line 2, column 'b' holds another value" in refusal(write("a,b\n1,inf\n"), threshold=0)
    assert "line 2, column 'b' holds another value" in refusal(write("a,b\n1,x\n"), threshold=0)


def test_a_compressed_file_that_is_cut_short_is_refused(write):
    whole = gzip.compress(GOOD.encode())
    assert "ended before" in refusal(write(whole[:-9], "trees.csv.gz"), label="tree")
    for ending in ("gz", "bz2", "zst"):
        assert ending in refusal(write(b"not compressed", f"trees.csv.{ending}"), label="tree")
    for ending, cut in (
        ("bz2", bz2.compress(GOOD.encode())[:-9]),
        ("zst", pa.compress(GOOD.encode(), "zstd", asbytes=True)[:-9]),
    ):
        refusal(write(cut, f"trees.csv.{ending}"), label="tree")


def test_an_interrupt_while_labels_are_read_is_one(write, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(names.LabelReader, "add", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_table(write(GOOD), label="tree")


def test_separator_decimal_mark_and_encoding_are_options(write):
    path = write("größe;y\n1,5;ja\n-3e2;nein\n".encode("latin-1"))
    X, y, names = read_table(path, label="y", values="numbers", separator=";", decimal=",", encoding="latin-1")
    assert X.tolist() == [[1.5], [-300]]
    assert y.tolist() == ["ja", "nein"]
    assert names == ["größe"]
    said = refusal(write("a;y\n1,5;u\n1,x;v\n"), label="y", values="numbers", separator=";", decimal=",")
    assert "line 3, column 'a' holds another value" in said
    assert "the separator must be one character, got ';;'" in refusal(path, separator=";;")
    assert "must differ, got ',' for both" in refusal(path, decimal=",")
    assert "unknown encoding: klingon" in refusal(path, encoding="klingon")


def test_what_is_parsed_is_bounded(write, monkeypatch):
    monkeypatch.setattr(csv, "LINE", 1000)
    long = "a,y\n1,u\n" + "1,{}\n" + "0,v\n" * 900
    assert "a line has more than 1,000 characters" in refusal(write(long.format("x" * 3000)), label="y")
    monkeypatch.setattr(csv, "LINE", 1 << 22)
    long_cell = refusal(write(long.format("x" * 2_000_000)), label="y")
    assert "line 3 has a cell of more than 131,072 characters; a quote in it may not be closed" in long_cell
    assert "line 3, column 'y' has 1,001 characters; a label has at most 1000" in refusal(
        write(long.format("x" * 1001)), label="y"
    )
    monkeypatch.setattr(names, "ALWAYS", 10_000)
    rows = b"a,y\n" + b"1,u\n" * 100_000
    packed = {"gz": gzip.compress(rows), "bz2": bz2.compress(rows), "zst": pa.compress(rows, "zstd", asbytes=True)}
    for ending, content in packed.items():
        assert "the file expands to more than" in refusal(write(content, f"bomb.csv.{ending}"), label="y")
    bomb = write(gzip.compress(b"1 1:1\n" * 200_000), "bomb.svm.gz")
    assert "the file expands to more than" in refusal(bomb)
    np.savez_compressed(bomb := write("", "bomb.npz"), X=np.zeros((1000, 1000)), y=np.arange(1000) % 2)
    assert "the file expands to 8,000,128 bytes, more than 400 times its size" in refusal(bomb)
    monkeypatch.setattr(names, "LONGEST_LINE", 1000)
    assert "a line has more than 1,000 bytes" in refusal(write("1 1:1 " * 1000, "long.svm"))


def test_a_nul_in_a_name_is_refused(write, tmp_path):
    assert r"the name 'a\x00b' of column 1 has a NUL in it" in refusal(write("a\0b,y\n1,u\n"), label="y")
    np.savez(tmp_path / "t.npz", X=np.eye(2), feature_names=np.frombuffer(b"a\0b\nc", np.uint8))
    assert "has a NUL in it" in refusal(tmp_path / "t.npz")


def test_a_feature_number_beyond_an_integer_is_refused(write):
    for number in (2**31, 2**40, 2**64, 2**70):
        assert "the number of a feature is above 2**31 - 1" in refusal(write(f"1 1:1\n1 {number}:1\n", "t.svm"))


def test_a_folder_and_a_pattern_of_parquet_files_are_one_table(tmp_path, rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": rng.normal(size=90), "y": rng.choice(["u", "v"], 90), "b": rng.integers(0, 9, 90)})
    folder = tmp_path / "parts"
    folder.mkdir()
    for k in range(3):
        frame[30 * k : 30 * k + 30].to_parquet(folder / f"part-{k}.parquet", row_group_size=20)
    for path in (folder, folder / "part-*.parquet", tmp_path / "*" / "part-?.parquet"):
        X, y, names = read_table(path, label="y", values="numbers")
        assert np.array_equal(X, frame[["a", "b"]].to_numpy(np.float32))
        assert y.tolist() == frame["y"].tolist()
        assert names == ["a", "b"]
        X, y = FileParts(path, label="y", dtype="float64").numbers()
        assert np.array_equal(X, frame[["a", "b"]].to_numpy())
        assert y.tolist() == frame["y"].tolist()
    broken = frame[:30].astype({"b": "Int64"})
    broken.loc[25, "b"] = None
    broken.to_parquet(folder / "part-1.parquet", row_group_size=20)
    with pytest.raises(ValueError, match=r"part-1\.parquet: row 26, column 'b' is empty"):
        FileParts(folder, label="y").numbers()
    with pytest.raises(ValueError, match=r"part-1\.parquet: row 26, column 'b' is empty"):
        read_table(folder, label="y", values="numbers")
    frame[["a", "y"]].to_parquet(folder / "part-2.parquet")
    with pytest.raises(ValueError, match=r"part-2\.parquet: its columns are not those of .*part-0\.parquet"):
        read_table(folder, label="y", values="numbers")
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_table(tmp_path / "none-*.parquet", label="y")


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (",a,y", ["column 1", "a"]),
        ("a,a,y", ["a", "a (2)"]),
        ("a (2),a,a,a,y", ["a (2)", "a", "a (3)", "a (4)"]),
        (",column 1,y,", ["column 1", "column 1 (2)", "column 4"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "txt", "data"])
def test_columns_without_a_name_have_their_place_and_repeated_names_a_number(write, header, names, ending):
    width = header.count(",") + 1
    row = ["u" if name == "y" else str(k % 2) for k, name in enumerate(header.split(","))]
    table = read_table(write(f"{header}\n{','.join(row)}\n", f"t.{ending}"), label="y")
    assert table.feature_names == names
    assert table.X.shape == (1, width - 1)


@pytest.mark.parametrize("values", ["bits", "numbers"])
@pytest.mark.parametrize(
    "cells", [["true", "0", "1", "FALSE"], ["1", "0", "true", "False"], ["TRUE", "0.0", "1e0", "0"]]
)
def test_the_first_row_does_not_say_how_the_others_are_read(write, values, cells):
    text = "a,y\n" + "".join(f"{cell},u\n" for cell in cells)
    table = read_table(write(text), label="y", values=values)
    numbers = table.X.toarray() if values == "bits" else table.X
    assert numbers[:, 0].astype(int).tolist() == [{"true": 1, "false": 0}.get(c.lower(), c[:1] == "1") for c in cells]
    for wrong in ("x", "", "1_0", "nan"):
        assert "line 6, column 'a'" in refusal(write(text + f"{wrong},u\n"), label="y", values=values)


def test_an_svmlight_file_has_its_labels_and_counts_features_from_one(write):
    path = write("1 1:1 3:1\n-1 2:1\n", "trees.svm")
    X, y, _ = read_table(path)
    assert X.toarray().astype(int).tolist() == [[1, 0, 1], [0, 1, 0]]
    assert y.tolist() == [1, -1]
    assert read_table(path, n_features=9).X.shape == (2, 9)
    assert "leave out the label" in refusal(path, label="y")
    assert "start at 1" in refusal(write("1 0:1\n", "zero.svm"))
    assert "0 or 1, got 3.0" in refusal(write("1 1:3\n", "three.svm"))
    refusal(write("yes 1:1\n", "text.svm"))


@pytest.mark.parametrize("columns", [None, 20])
def test_one_row_does_not_choose_the_columns_of_an_svmlight_file_that_declares_them(write, columns):
    """Without a declaration it does, and a warning says so."""
    lines = ["1 20:1", *(f"{k % 2} {1 + k % 19}:1" for k in range(40))]
    other = [*lines[:-1], "1 7:1 21:1" if columns is None else "1 7:1"]
    paths = [write("\n".join(each) + "\n", f"{k}.svm") for k, each in enumerate((lines, other))]
    warned = pytest.warns(PrivacyWarning, match=r"number of columns was read off the rows.*--columns")
    with nullcontext() if columns else warned, warnings.catch_warnings():
        if columns:
            warnings.simplefilter("error")
        fits = [
            HalfspaceClassifier(n_rounds=2).fit(FileParts(each, n_features=columns), classes=[0, 1]) for each in paths
        ]
    assert [each.n_features_in_ for each in fits] == ([20, 21] if columns is None else [20, 20])
    if columns:
        assert "beyond the 5 columns that were declared" in refusal(paths[0], n_features=5)


def test_columns_that_need_more_than_the_memory_are_refused_before_it_is_asked_for(write, monkeypatch):
    far = write("1 1:1\n-1 2147483646:1\n", "far.svm")
    assert "2,147,483,646, far beyond the size of the file" in refusal(far, values="numbers")
    monkeypatch.setattr(svmlight, "_memory", lambda: 1 << 30)
    assert "needs more than the memory of this machine" in refusal(far, values="numbers", n_features=2147483646)


def test_an_svmlight_file_reads_as_it_was_written(tmp_path, rng):
    table, y = rng.integers(0, 2, (40, 9)), rng.integers(0, 3, 40)
    dump_svmlight_file(sp.csr_array(table), y, str(tmp_path / "t.libsvm"), zero_based=False)
    X, labels, _ = read_table(tmp_path / "t.libsvm", n_features=9)
    assert (X.toarray() == table).all()
    assert (labels == y).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("blob", [False, True])
def test_an_npz_file_may_be_dense_or_sparse_and_name_its_columns_either_way(tmp_path, sparse, blob):
    path, names = tmp_path / "t.npz", ["wet", "kälte"]
    stored = np.frombuffer("\n".join(names).encode(), np.uint8) if blob else np.array(names)
    parts = {"X": np.array(BITS)}
    if sparse:
        sp.save_npz(path, sp.csr_array(np.array(BITS, np.uint8)))
        with np.load(path) as saved:
            parts = dict(saved)
    np.savez(path, **parts, y=np.array([-1.0, 1.0, 1.0]), other=np.array([b"u", b"v", b"u"]), feature_names=stored)
    X, y, _ = read_table(path)
    assert X.toarray().astype(int).tolist() == BITS
    assert X.feature_names == names
    assert y.tolist() == [-1, 1, 1]
    assert read_table(path, label="other").y.tolist() == ["u", "v", "u"]
    assert "no array 'class' to take labels from; there is y, other" in refusal(path, label="class")


def test_an_npz_file_that_will_not_do_is_refused(tmp_path, write):
    path = tmp_path / "t.npz"

    def said(**parts):
        np.savez(path, **parts)
        return refusal(path)

    assert "neither an array X" in said(Z=np.eye(2))
    assert "two-dimensional" in said(X=np.ones(3))
    assert "two-dimensional array of numbers, got <U1" in said(X=np.array([["a"]]))
    assert "label for each of 2 rows, got shape (3,)" in said(X=np.eye(2), y=np.arange(3))
    assert "feature_names must have 2 names, got 1" in said(X=np.eye(2), feature_names=np.array(["a"]))
    assert "row 2, column 1 holds another value" in said(X=np.array([[1, 0], [5, 1]]))
    np.savez(path, X=np.eye(2), y=np.arange(2))
    assert "not a whole .npz file" in refusal(write(path.read_bytes()[:200], "short.npz"))
    assert "not a whole .npz file" in refusal(write(b"", "empty.npz"))


def test_a_parquet_file_reads_like_the_csv_file(write, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"wet": [True, False, True], "tree": ["oak", "elm", "oak"], "cold": [0.0, 1.0, 1.0]})
    path = tmp_path / "trees.parquet"
    frame.to_parquet(path)
    X, y, _ = read_table(path, label="tree")
    assert X.toarray().astype(int).tolist() == BITS
    assert X.feature_names == ["wet", "cold"]
    assert y.tolist() == ["oak", "elm", "oak"]
    assert "column 'tree' holds" in refusal(path)
    assert "no column 'y'" in refusal(path, label="y")
    frame["cold"] = [0.0, 2.5, 1.0]
    frame.to_parquet(path)
    assert "row 2, column 'cold' holds another value" in refusal(path, label="tree")
    assert read_table(path, label="tree", threshold=0.5).X.toarray()[:, 1].tolist() == [False, True, True]
    frame["wet"] = [True, False, None]
    frame.to_parquet(path)
    assert "row 3, column 'wet' is empty" in refusal(path, label="tree")
    assert "not a whole Parquet file" in refusal(write(path.read_bytes()[:50], "short.parquet"), label="tree")


def test_a_bundled_data_set_is_read_by_its_name():
    X, y, _ = read_table("mushroom")
    assert X.shape == (8124, 126)
    assert len(X.feature_names) == 126
    assert sorted(set(y)) == ["edible", "poisonous"]


def test_names_that_are_no_table_say_what_a_table_is(tmp_path, write):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv: there is no such file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(FileNotFoundError, match=r"no bundled data set.*mushroom.*\.csv"):
        read_table("mushrooms")
    with pytest.raises(ValueError, match=r"must end in one of \.csv"):
        read_table(write("", "trees.docx"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_table(tmp_path / "folder.csv")


# ---- real numbers --------------------------------------------------------------------------------------------------

REAL = "long,old,tree\n0.5,1,oak\n-3e2,0,elm\n1.25,1,oak\n"
NUMBERS = [[0.5, 1], [-300, 0], [1.25, 1]]


@pytest.mark.parametrize("values", ["numbers", "either"])
def test_numbers_of_a_text_file_become_float32(write, values):
    for path in (
        write(REAL),
        write(REAL.replace(",", "\t"), "trees.tsv"),
        write(gzip.compress(REAL.encode()), "trees.csv.gz"),
    ):
        X, y, names = read_table(path, label="tree", values=values)
        assert X.dtype == np.float32
        assert X.tolist() == NUMBERS
        assert y.tolist() == ["oak", "elm", "oak"]
        assert names == ["long", "old"]


def test_a_table_is_of_bits_where_its_types_say_so_and_never_because_its_entries_do(write, tmp_path):
    names, y = np.array(["wet", "cold"]), np.arange(3)
    np.savez(tmp_path / "numbers.npz", X=np.array(BITS, float), y=y, feature_names=names)
    np.savez(tmp_path / "booleans.npz", X=np.array(BITS, bool), y=y, feature_names=names)
    for path, label in ((write(GOOD), "tree"), (tmp_path / "numbers.npz", "y"), (tmp_path / "booleans.npz", "y")):
        wanted = read_table(path, label=label)
        either = read_table(path, label=label, values="either")
        assert either.feature_names == wanted.feature_names == ["wet", "cold"]
        if path.stem == "booleans":
            assert isinstance(either.X, BitMatrix)
            assert (either.X.rows == wanted.X.rows).all()
        else:
            assert either.X.dtype.kind == "f"
            assert either.X.tolist() == BITS
        assert read_table(path, label=label, values="numbers").X.tolist() == BITS
    assert isinstance(read_table("mushroom", values="either").X, BitMatrix)
    assert read_table("mushroom", values="numbers").X.dtype == np.float32


def test_a_threshold_makes_bits_whatever_is_wanted(write):
    for values in ("bits", "numbers", "either"):
        X = read_table(write(REAL), label="tree", values=values, threshold=0.7).X
        assert X.toarray().astype(int).tolist() == [[0, 1], [0, 0], [1, 1]]


def test_a_float_table_is_read_with_no_more_than_blocks_beside_it(write, rng, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 1 << 16)  # of which pyarrow reads up to 32 ahead, on its own threads
    table = rng.normal(size=(10_000, 60))
    lines = [",".join(f"f{j}" for j in range(60)), *(",".join(map(repr, row)) for row in table.tolist())]
    path = write("\n".join(lines))
    tracemalloc.start()
    X = read_table(path, values="numbers").X
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(X, table.astype(np.float32))
    assert peak < X.nbytes + 2 * entries.BLOCK_BYTES + 32 * csv.BLOCK


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,y\n1,0.5,u\n\n0,red,v\n", "line 4, column 'b' holds another value; features are finite numbers"),
        ("a,b,y\n1,0.5,u\n0,nan,v\n", "line 3, column 'b' holds another value"),
        ("a,b,y\n1,0.5,u\n0,-inf,v\n", "line 3, column 'b' holds another value"),
        ("a,b,y\n1,0.5,u\n0,1e39,v\n", "line 3, column 'b' holds another value; .* up to 3.4e.38 in size"),
        ("a,b,y\n1,0.5,u\n0,1_000,v\n", "line 3, column 'b' holds another value"),
        ('a,b,y\n1,0.5,u\n0,"1,5",v\n', "line 3, column 'b' holds another value"),
        ("a,b,y\n1,0.5,u\n0,,v\n", "line 3, column 'b' is empty"),
        ("a,b,y\n1,0.5,u\n0,1\n", "line 3 has 2 cells, the header row 3"),
    ],
)
@pytest.mark.parametrize("values", ["numbers", "either"])
def test_a_messy_file_of_numbers_is_refused_with_the_place_and_what_was_seen(write, values, text, said):
    with pytest.raises(ValueError, match="trees.csv.*" + said):
        read_table(write(text), label="y", values=values)


def test_quotes_blank_lines_and_true_and_false_are_read_beside_numbers(write):
    X, y, _ = read_table(write('\ufeff"a, b",c,y\r\nTrue,"0.5",1\r\n\r\nfalse, -1 ,2\r\n'), label="y", values="either")
    assert X.tolist() == [[1, 0.5], [0, -1]]
    assert y.tolist() == ["1", "2"]


def test_numbers_outside_declared_limits_are_refused_by_their_place(write, tmp_path):
    said = "holds another value; features are numbers declared to lie in [-1, 2]; see --clip"
    assert "line 3, column 'long' " + said in refusal(write(REAL), label="tree", values="numbers", limits=(-1, 2))
    assert read_table(write(REAL), label="tree", values="numbers", limits=(-300, 1.25)).X.tolist() == NUMBERS
    assert "row 1, column 2 holds another value;" in refusal(
        write("1 2:3\n", "t.svm"), values="numbers", limits=(-1, 2)
    )
    np.savez(tmp_path / "t.npz", X=np.array(NUMBERS))
    assert "row 2, column 1 holds another value;" in refusal(tmp_path / "t.npz", values="numbers", limits=(-1, 2))


def test_an_svmlight_file_of_numbers_is_sparse(write):
    for values in ("numbers", "either"):
        X, y, names = read_table(write("1 1:0.5 3:1\n-1 2:-7\n", "t.svm"), values=values)
        assert X.format == "csr"
        assert X.dtype == np.float32
        assert X.toarray().tolist() == [[0.5, 0, 1], [0, -7, 0]]
        assert y.tolist() == [1, -1]
        assert names is None
        assert read_table(write("1 1:1\n-1 2:1\n", "bits.svm"), values=values).X.format == "csr"
    assert "row 2, column 2 holds another value" in refusal(write("1 1:0.5\n1 2:nan\n", "t.svm"), values="either")
    assert "row 2, column 3 holds another value" in refusal(write("1 1:0.5\n1 3:1e99\n", "t.svm"), values="numbers")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("format", ["dense", "csr", "csc"])
def test_an_npz_file_of_numbers_keeps_its_floats_and_its_zeros_unstored(tmp_path, rng, dtype, format):
    path, table = tmp_path / "t.npz", rng.integers(0, 5, (40, 7)).astype(dtype)
    if format == "dense":
        np.savez(path, X=table)
    else:
        sp.save_npz(path, sp.csr_array(table).asformat(format))
    X = read_table(path, values="numbers").X
    assert X.dtype == (dtype if "float" in dtype and format == "dense" else np.float32)
    assert ((X if format == "dense" else X.toarray()) == table).all()
    assert format == "dense" or X.format == "csr"


def test_an_npz_file_of_numbers_that_will_not_do_is_refused(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.array([[0.5, 1], [np.nan, 2]]), feature_names=np.array(["a", "b"]))
    assert "row 2, column 'a' holds another value; features are finite" in refusal(path, values="either")
    np.savez(path, X=np.array([[0.5, 1e300]]))
    assert "row 1, column 2 holds another value" in refusal(path, values="numbers")
    sp.save_npz(path, sp.csr_array(np.array([[1j]])))
    assert "two-dimensional array of numbers, got complex128" in refusal(path, values="numbers")
    np.savez(path, X=np.empty((0, 3)))
    assert read_table(path, values="numbers").X.shape == (0, 3)
    with pytest.raises(ValueError, match="got 'floats'"):
        read_table(path, values="floats")


def test_a_parquet_file_of_numbers_becomes_float32(tmp_path, rng, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(entries, "BLOCK_BYTES", 8 * 4 * 7)
    path = tmp_path / "t.parquet"
    frame = pandas.DataFrame(
        {
            "a": rng.normal(size=40),
            "y": rng.choice(["u", "v"], 40),
            "b": rng.integers(0, 99, 40),
            "c": [True, False] * 20,
        }
    )
    frame.to_parquet(path, row_group_size=11)
    for values in ("numbers", "either"):
        X, y, names = read_table(path, label="y", values=values)
        assert X.dtype == np.float32
        assert np.array_equal(X, frame[["a", "b", "c"]].to_numpy(np.float32))
        assert y.tolist() == frame["y"].tolist()
        assert names == ["a", "b", "c"]
    frame.loc[30, "a"] = np.inf
    frame.to_parquet(path)
    assert "row 31, column 'a' holds another value" in refusal(path, label="y", values="numbers")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_numbers_beyond_the_memory_are_in_a_scratch_file(ending, tmp_path, rng):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / f"t.{ending}"
    frame = pandas.DataFrame({"a": rng.normal(size=40), "y": np.arange(40) % 3, "b": rng.integers(0, 2, 40)})
    frame.to_parquet(path, row_group_size=11) if ending == "parquet" else frame.to_csv(path, index=False)
    for memory, mapped in ((1000, False), (0, True)):
        X, y, names = read_table(path, label="y", values="numbers", memory=memory, scratch=tmp_path)
        assert np.array_equal(X, frame[["a", "b"]].to_numpy(np.float32))
        assert y.tolist() == frame["y"].astype(str if ending == "csv" else int).tolist()
        assert names == ["a", "b"]
        assert _is_mapped(X) == mapped
        assert isinstance(read_table(path, label="y", threshold=0, memory=memory).X, BitMatrix)


def _is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array is not None


def test_steps_of_numbers_are_read_like_the_table(write):
    whole = read_table(write(REAL), label="tree", values="numbers")
    steps = list(read_steps(write(REAL), 2, ["oak", "elm"], label="tree", values="numbers"))
    assert [len(step.y) for step in steps] == [2, 1]
    assert (np.concatenate([step.X for step in steps]) == whole.X).all()
    assert steps[0].feature_names == whole.feature_names
    with pytest.raises(ValueError, match="row 2, column 'long' holds another value; features are numbers declared"):
        list(read_steps(write(REAL), 2, ["oak", "elm"], label="tree", values="numbers", limits=(0, 9)))
    with pytest.raises(ValueError, match='"either"'):
        next(read_steps(write(REAL), 2, ["oak", "elm"], label="tree", values="either"))


class Payload:
    """What a pickle that is loaded would run."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("array", ["X", "y", "feature_names"])
def test_nothing_in_an_npz_file_is_unpickled(tmp_path, array):
    mark = tmp_path / "ran"
    arrays = {"X": np.eye(2), "y": np.arange(2), "feature_names": np.array(["a", "b"])}
    arrays[array] = np.array([Payload(mark), Payload(mark)], object)
    np.savez(tmp_path / "t.npz", **arrays)
    assert "allow_pickle" in refusal(tmp_path / "t.npz")
    assert not mark.exists()


@pytest.mark.parametrize("values", ["bits", "numbers", "either"])
def test_a_table_without_rows_is_one(write, values):
    table = read_table(write("a,b,y\n"), label="y", values=values)
    assert table.X.shape == (0, 2)
    assert len(table.y) == 0
    assert table.feature_names == ["a", "b"]
