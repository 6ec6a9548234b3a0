"""Learning on the workers of a running cluster."""

from contextlib import contextmanager
from pathlib import Path

from .report import errors


@contextmanager
def on_cluster(address, data, declaration, unit):
    """The table as delayed parts, and its number of rows, while this process is a client of the cluster."""
    from dpfast.files.names import kind_of

    if declaration is None:
        raise ValueError("--scheduler needs a --schema, by which the workers read the table")
    if kind_of(Path(data)) != "parquet":
        raise ValueError(f"--scheduler reads Parquet: a file, a folder or a pattern, got {data}")
    try:
        from distributed import Client

        from dpfast.files.delayed import delayed_parquet
    except ImportError:
        raise ImportError("--scheduler needs Dask: pip install 'dpfast[dask]'") from None
    parts, n = delayed_parquet(data, [*declaration.names, declaration.label.name, *([] if unit is None else [unit])])
    with errors.status(f"connecting to {address}"):
        client = Client(address)
    with client, client.as_current():
        yield parts, n
