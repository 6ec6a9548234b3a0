"""Engines of clusters: each holds the parts of a table on Dask, Ray or Spark, and `fit` accepts it instead of a table.

`fit` also accepts the table itself, and then makes the engine for this fit alone. Make it yourself to choose the client
or the number of actors, or to share the parts among several fits. An engine holds all columns of its table.
"""

from os import PathLike
from typing import Any

from dpfast.parts import Backend

__all__ = ["dask", "ray", "spark"]


def dask(X: Any, y: Any = None, *, client: Any = None) -> Backend:
    """Return an engine on the workers of a Dask cluster.

    Parameters
    ----------
    X : dask.dataframe.DataFrame, dask.array.Array, or list of delayed tables
    y : Series, array or list of delayed labels, optional
        The labels, in the same parts as the rows; by default they are a column of X, which the schema names.
    client : distributed.Client, optional
        The client of the cluster; by default the current client.

    Returns
    -------
    dpfast.parts.Backend
        Its method `close` releases the parts.

    Raises
    ------
    ValueError
        If there is no client, or the labels are not in the same parts as the rows.
    """
    from dpfast.parts.dask_parts import dask_backend

    return dask_backend(X, y, client=client)


def ray(tables: Any, *, actors: int | None = None) -> Backend:
    """Return an engine on actors of a Ray cluster.

    Parameters
    ----------
    tables : ray.data.Dataset, or list of ObjectRef
        The references are to tables of Arrow or pandas, in the order of the rows.
    actors : int, optional
        The number of actors; by default one for each processor of the cluster, but at most one for each table.

    Returns
    -------
    dpfast.parts.Backend
        The actors end when the engine is no longer referenced.
    """
    from dpfast.parts.ray_parts import ray_backend

    return ray_backend(tables, actors=actors)


def spark(frame: Any, *, tasks: int | None = None, folder: str | PathLike[str] | None = None) -> Backend:
    """Return an engine on the executors of a Spark cluster.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Each of its partitions that has rows is a part. The table is computed once, and persisted on the disks of the
        executors.
    tasks : int, optional
        The most tasks of a round; a task answers for several parts if there are more. By default as many as the cluster
        runs at a time when the engine is made.
    folder : str or path-like, optional
        A folder that all executors see under this name, for the files of the parts. No part is then computed again, not
        even if its executor is lost. By default each executor has files of its own, and a part of a lost executor must
        have the same rows, in the same order, when it is computed again; otherwise the fit raises `EngineLost`. If this
        process is killed, files named ``dpfast-part-*``, which hold the codes of rows, stay in the folder: remove them
        when no fit uses it.

    Returns
    -------
    dpfast.parts.Backend
        Its method `close` removes the files of the parts.

    Raises
    ------
    ValueError
        If the DataFrame has no rows.
    """
    from dpfast.parts.spark_parts import spark_backend

    return spark_backend(frame, tasks=tasks, folder=folder)
