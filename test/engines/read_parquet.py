"""Reads every table of a Parquet folder with one reader, and prints rows by table and the last publication as JSON."""
import json
import os
import sys
from datetime import timezone

reader, folder = sys.argv[1:]


def pandas():
    import pandas

    def read(path):
        frame = pandas.read_parquet(path, engine="pyarrow")
        return len(frame), lambda: frame["published_date"].max()

    return read


def pyarrow():
    import pyarrow.compute
    import pyarrow.parquet

    def read(path):
        table = pyarrow.parquet.read_table(path)
        return table.num_rows, lambda: pyarrow.compute.max(table["published_date"]).as_py()

    return read


def polars():
    import polars

    def read(path):
        frame = polars.read_parquet(path)
        return frame.height, lambda: frame["published_date"].max()

    return read


def fastparquet():
    import fastparquet

    def read(path):
        files = [os.path.join(path, name) for name in sorted(os.listdir(path))]
        frames = [fastparquet.ParquetFile(name).to_pandas() for name in files]
        # It gives instants without a time zone, in UTC.
        last = lambda: max(frame["published_date"].max() for frame in frames).tz_localize("UTC")
        return sum(map(len, frames)), last

    return read


def datafusion():
    import datafusion

    context = datafusion.SessionContext()

    def query(path, expression):
        return context.read_parquet(path).aggregate([], [expression]).to_pydict()

    def read(path):
        column, functions = datafusion.col, datafusion.functions
        [[rows]] = query(path, functions.count_star()).values()
        return rows, lambda: next(iter(query(path, functions.max(column("published_date"))).values()))[0]

    return read


def pyspark():
    from pyspark.sql import SparkSession

    session = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()

    def read(path):
        frame = session.read.parquet(path)
        last = "CAST(unix_micros(max(published_date)) AS BIGINT)"
        return frame.count(), lambda: frame.selectExpr(last).collect()[0][0]

    return read


def instant(value):
    """Microseconds since 1970 of what a reader takes an instant for."""
    if isinstance(value, int):
        return value
    assert value.tzinfo is not None, value
    return round(value.astimezone(timezone.utc).timestamp() * 1_000_000)


read = globals()[reader]()
rows, published = {}, None
for table in sorted(os.listdir(folder)):
    rows[table], last = read(os.path.join(folder, table))
    if table == "content":
        published = instant(last())
print(json.dumps({"rows": rows, "published": published}))
