"""
One engine that reads lakes: `lake_engine.py ENGINE`. Requests come as JSON, one a line; each has one answer, also a line:

    {"do": "tables", "tables": {"content": 3, "users": null}}   rows and digests by instance, of a version or the newest
    {"do": "database", "file": "...", "instance": "...", "tables": [...], "added": [...]}   the same of a local DuckDB
                                                                file; added: further columns, of text, without values
    {"do": "query", "sql": "...", "tables": [...]}              rows, as texts; tables can be read by their names
    {"do": "write", "statement": "OPTIMIZE LAKE_TABLE", "table": "content"}   maintenance by Spark
    {"do": "kill", "group": 123, "sql": "...", "tables": [...]} a query of Spark; once it is at work the processes end

A digest does not depend on the order of rows: two of them are equal where each row has the same values in the same columns,
of the same types. All but `database` name their lake too: a folder, or `s3://bucket/prefix` in the store that the variables
of the AWS tools say.
"""
import importlib.util
import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import duckdb

[engine] = sys.argv[1:]
lake = ""  # Of the request.
env = os.environ
endpoint = env["AWS_ENDPOINT_URL"]
key, secret = env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]


def at(table):
    return f"{lake}/{table}"


def extension(name):
    package = importlib.util.find_spec(f"duckdb_extension_{name}")
    return f"{os.path.dirname(package.origin)}/extensions/v{duckdb.__version__}/{name}.duckdb_extension"


class DuckDB:
    def __init__(self):
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        for name in ["httpfs", "delta"]:
            self.connection.execute(f"LOAD '{extension(name)}'")
        self.connection.execute(
            f"""CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', REGION '{env["AWS_REGION"]}',
                ENDPOINT '{endpoint.removeprefix("http://")}', USE_SSL false, URL_STYLE 'path')"""
        )

    def read(self, table, version):
        at_version = "" if version is None else f", version => {version}"
        return self.connection.sql(f"FROM delta_scan('{at(table)}'{at_version})").to_arrow_table()

    def view(self, table):
        self.connection.execute(f"CREATE OR REPLACE VIEW {table} AS FROM delta_scan('{at(table)}')")

    def query(self, sql):
        return self.connection.sql(sql).to_arrow_table()


class ClickHouse:
    def __init__(self):
        import chdb

        # It reads files below the working directory only.
        os.chdir("/")
        self.connection = chdb.connect(":memory:")

    def of(self, table):
        if not lake.startswith("s3://"):
            return f"deltaLakeLocal('{at(table)}')"
        return f"deltaLake('{at(table).replace('s3://', endpoint + '/')}', '{key}', '{secret}')"

    def read(self, table, version):
        settings = "" if version is None else f" SETTINGS delta_lake_snapshot_version = {version}"
        return self.query(f"SELECT * FROM {self.of(table)}{settings}")

    def view(self, table):
        self.connection.query(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM {self.of(table)}")

    def query(self, sql):
        return self.connection.query(sql, "ArrowTable")


ALLOW_HTTP = {"AWS_ALLOW_HTTP": "true"}


class DeltaRs:
    def read(self, table, version):
        import deltalake

        return deltalake.DeltaTable(at(table), version=version, storage_options=ALLOW_HTTP).to_pyarrow_table()


class Polars:
    def read(self, table, version):
        import polars

        return polars.scan_delta(at(table), version=version, storage_options=ALLOW_HTTP).collect().to_arrow()


class Spark:
    def __init__(self):
        from pyspark.sql import SparkSession

        jars = env["SPARK_JARS"]
        settings = {
            "spark.jars": ",".join(f"{jars}/{name}" for name in sorted(os.listdir(jars))),
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.session.timeZone": "UTC",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            # The tables are small: what Spark does for large ones takes most of the time.
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "2",
            "spark.sql.codegen.wholeStage": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.memory": "512m",
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
            "spark.hadoop.fs.s3a.endpoint": endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": env["AWS_REGION"],
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        }
        builder = SparkSession.builder.master(env["SPARK_MASTER"])
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def of(self, table):
        return f"delta.`{at(table).replace('s3://', 's3a://')}`"

    def read(self, table, version):
        at_version = "" if version is None else f" VERSION AS OF {version}"
        return self.session.sql(f"SELECT * FROM {self.of(table)}{at_version}").toArrow()

    def view(self, table):
        self.session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table} AS SELECT * FROM {self.of(table)}")

    def query(self, sql):
        return self.session.sql(sql).toArrow()

    def write(self, statement, table):
        self.session.sql(statement.replace("LAKE_TABLE", self.of(table))).collect()

    def kill(self, group, sql):
        """Ends a group of processes while both workers have tasks of the query."""
        tracker = self.session.sparkContext.statusTracker()
        result = []
        asking = Thread(target=lambda: result.append(self.query(sql)))
        asking.start()
        done = lambda: sum(
            stage.numCompletedTasks for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()) if stage
        )
        while asking.is_alive() and done() < 3:
            time.sleep(0.05)
        assert asking.is_alive(), "the query ended before it could be disturbed"
        os.killpg(group, signal.SIGKILL)
        asking.join()
        return result[0]


FAMILIES = {"VARCHAR": "text", "JSON": "text", "TIMESTAMP WITH TIME ZONE": "timestamp"}
hasher = duckdb.connect()
hasher.execute("SET TimeZone = 'UTC'")


def digests(source):
    """Rows and digest by instance of an Arrow table or a query, and its columns' types."""
    relation = source if isinstance(source, duckdb.DuckDBPyRelation) else hasher.from_arrow(source)
    types = {
        name: FAMILIES.get(str(kind), str(kind)) for name, kind in sorted(zip(relation.columns, relation.types))
    }
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in types}
    cells = [
        f"epoch_us({quoted[name]})" if kind == "timestamp" else f"{quoted[name]}::VARCHAR"
        for name, kind in types.items()
        if name != "instance"
    ]
    found = relation.aggregate(
        f"instance, count(*) AS rows, sum(hash({', '.join(cells)}))::VARCHAR AS digest", "instance"
    ).fetchall()
    return {"types": types, "instances": {instance: [rows, digest] for instance, rows, digest in found}}


def database(file, instance, tables, added):
    more = "".join(f", NULL::VARCHAR AS {column}" for column in added)
    with duckdb.connect(file, read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return {
            table: digests(connection.sql(f"SELECT *{more}, '{instance}' AS instance FROM {table}"))
            for table in tables
        }


def texts(arrow):
    relation = hasher.from_arrow(arrow)
    columns = ", ".join(f'"{name}"::VARCHAR' for name in relation.columns)
    return [list(row) for row in relation.project(columns).fetchall()]


# What engines print, Spark's Java among them, is not an answer.
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
opened = {"duckdb": DuckDB, "clickhouse": ClickHouse, "delta-rs": DeltaRs, "polars": Polars, "spark": Spark}[engine]()


def answer(do, tables=(), lake="", **given):
    globals()["lake"] = lake
    if do == "tables":
        with ThreadPoolExecutor(4 if engine == "spark" else 1) as threads:
            read = threads.map(opened.read, tables.keys(), tables.values())
            return {table: digests(found) for table, found in zip(tables, read)}
    if do == "database":
        return database(tables=tables, **given)
    if do == "write":
        return opened.write(**given)
    for table in tables:
        opened.view(table)
    return texts(opened.kill(**given) if do == "kill" else opened.query(**given))


for line in sys.stdin:
    try:
        reply = {"answer": answer(**json.loads(line))}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), file=out, flush=True)
