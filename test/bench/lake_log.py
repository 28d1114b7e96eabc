"""Counts the rows of a Delta table with one engine, and prints how many seconds that took, from its log on."""
import importlib.util
import json
import os
import sys
import time

engine, table = sys.argv[1:]


def extension(duckdb, name):
    package = importlib.util.find_spec(f"duckdb_extension_{name}")
    return f"{os.path.dirname(package.origin)}/extensions/v{duckdb.__version__}/{name}.duckdb_extension"


match engine:
    case "deltalake":
        import deltalake
        import pyarrow.dataset  # noqa: F401

        def count():
            return deltalake.DeltaTable(table).to_pyarrow_dataset().count_rows()
    case "polars":
        import polars

        def count():
            return polars.scan_delta(table).select(polars.len()).collect().item()
    case "clickhouse":
        import chdb

        # Without a server it reads files below its own folder alone.
        os.chdir(table)

        def count():
            return int(str(chdb.query(f"SELECT count() FROM deltaLakeLocal('{table}')", "CSV")))
    case "duckdb":
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"LOAD '{extension(duckdb, 'delta')}'")

        def count():
            return connection.execute(f"SELECT count(*) FROM delta_scan('{table}')").fetchone()[0]

start = time.perf_counter()
rows = count()
print(json.dumps({"rows": rows, "seconds": time.perf_counter() - start}))
