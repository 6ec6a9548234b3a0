"""A cluster of Spark on this machine, with two executors that run the Python and the modules of the caller."""

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyspark
from people import pieces
from pyarrow import parquet
from pyspark.sql import SparkSession

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


class Cluster:
    """Two executors of one slot each, and tables in files that they read.

    Executors start in SPARK_HOME, and ask the driver under its name: without both they may end at once, and are started
    again for ever.
    """

    def __init__(self, folder, **others):
        self.folder = Path(folder)
        for name in ("events", "home", "home/work", "local"):
            (self.folder / name).mkdir()
        for name in ("bin", "jars", "python"):  # executors write their logs beside these
            (self.folder / "home" / name).symlink_to(Path(pyspark.__file__).parent / name)
        os.environ.update(
            PYSPARK_PYTHON=sys.executable,
            PYTHONPATH=os.pathsep.join(filter(None, sys.path)),  # executors import what is imported here
            SPARK_HOME=str(self.folder / "home"),
            SPARK_LOCAL_IP="127.0.0.1",
            PYSPARK_SUBMIT_ARGS=f"--driver-java-options '{QUICK}' pyspark-shell",
        )
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.executor.extraJavaOptions": QUICK,
            "spark.executor.memory": "500m",
            "spark.local.dir": str(self.folder / "local"),
            "spark.log.level": "OFF",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.files.maxPartitionBytes": "100000",  # less than what opening a file is taken for: a part each
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = SparkSession.builder.master("local-cluster[2,1,500]")
        for name, value in (settings | others).items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.held = None  # an engine that several checks use
        self._tables = 0

    def frame(self, frame, parts):
        self._tables += 1
        folder = self.folder / f"table-{self._tables}"
        folder.mkdir()
        for k, (part, _) in enumerate(pieces(frame, parts=parts)):
            parquet.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / f"{k}.parquet")
        return self.session.read.parquet(str(folder))
