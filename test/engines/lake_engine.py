"""
One engine that reads lakes: `lake_engine.py ENGINE`. Requests come as JSON, one a line; each has one answer, also a line:

    {"do": "tables", "tables": {"content": 3, "users": null}}   rows and digests by instance, of a version or the newest
    {"do": "database", "file": "...", "instance": "...", "tables": [...]}   the same of a local DuckDB file
    {"do": "query", "sql": "...", "tables": [...]}              rows, as texts; tables can be read by their names
    {"do": "probes", "databases": {"north": "..."}, "tables": [...]}   of local DuckDB files: a value of each column, and how
                                                                many rows have it, have none, and have it or more
    {"do": "filter", "probes": {...}, "by": "..."}              how many rows the engine finds for these
    {"do": "write", "statements": {"content": ["OPTIMIZE LAKE_TABLE"]}}   by Spark: the statements of each table in order

A digest does not depend on the order of rows: two of them are equal where each row has the same values in the same columns,
of the same types. All but `database` name their lake too: a folder, or `s3://bucket/prefix` in the store that the variables
of the AWS tools say.
"""
import importlib.util
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

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

    def filter(self, table, conditions, by):
        return count_by_sql(self.query, f"delta_scan('{at(table)}')", conditions, literals(TIMESTAMP=lambda value: f"make_timestamptz({value})"))


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

    def filter(self, table, conditions, by):
        escaped = lambda value: quote(value.replace("\\", "\\\\"))
        return count_by_sql(
            self.query,
            self.of(table),
            conditions,
            literals(
                VARCHAR=escaped,
                TIMESTAMP=lambda value: f"fromUnixTimestamp64Micro({value}, 'UTC')",
                DATE=lambda value: f"toDate32('{value}')",
            ),
            "`",
        )


ALLOW_HTTP = {"AWS_ALLOW_HTTP": "true"}


class DeltaRs:
    def read(self, table, version):
        import deltalake

        return deltalake.DeltaTable(at(table), version=version, storage_options=ALLOW_HTTP).to_pyarrow_table()

    def filter(self, table, conditions, by):
        import deltalake
        import pyarrow

        opened = deltalake.DeltaTable(at(table), storage_options=ALLOW_HTTP)
        if by == "query":
            query = deltalake.QueryBuilder().register("lake_table", opened)
            timestamp = lambda value: f"arrow_cast({value}, 'Timestamp(Microsecond, Some(\"UTC\"))')"
            as_sql = literals(TIMESTAMP=timestamp)
            return count_by_sql(lambda sql: pyarrow.table(query.execute(sql).read_all()), "lake_table", conditions, as_sql)
        dataset = opened.to_pyarrow_dataset()
        if by == "duckdb":
            connection = duckdb.connect()
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("lake_table", dataset)
            query = lambda sql: connection.sql(sql).to_arrow_table()
            return count_by_sql(query, "lake_table", conditions, literals(TIMESTAMP=lambda value: f"make_timestamptz({value})"))
        return {name: count_in_arrow(dataset, name, python_value(kind, value)) for name, (kind, value, *_) in conditions.items()}


class Polars:
    def read(self, table, version):
        import polars

        return polars.scan_delta(at(table), version=version, storage_options=ALLOW_HTTP).collect().to_arrow()

    def filter(self, table, conditions, by):
        import polars

        frame = polars.scan_delta(at(table), storage_options=ALLOW_HTTP, use_pyarrow=by == "pyarrow")
        frame_schema = frame.collect_schema()
        count = lambda condition: frame.filter(condition).select(polars.len())
        frames = []
        for name, (kind, value, *_) in conditions.items():
            column, literal = polars.col(name), polars.lit(python_value(kind, value), dtype=frame_schema[name])
            frames += map(count, [column == literal, column.is_null(), column >= literal])
        counts = [found.item() for found in polars.collect_all(frames)]
        return {name: counts[3 * place : 3 * place + 3] for place, name in enumerate(conditions)}


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
            "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
            "spark.sql.codegen.wholeStage": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.executor.memory": "512m",
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
            "spark.hadoop.fs.s3a.endpoint": endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": env["AWS_REGION"],
            "spark.hadoop.fs.s3a.path.style.access": "true",
            "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        }
        builder = SparkSession.builder.master("local[2]")
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

    def filter(self, table, conditions, by):
        escaped = lambda value: quote(value.replace("\\", "\\\\"))
        return count_by_sql(
            self.query,
            self.of(table),
            conditions,
            literals(VARCHAR=escaped, DOUBLE=lambda value: f"{value}D", TIMESTAMP=lambda value: f"timestamp_micros({value})"),
            "`",
        )

    def write(self, statements):
        def run(table):
            for statement in statements[table]:
                self.session.sql(statement.replace("LAKE_TABLE", self.of(table))).collect()

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(run, statements))


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def literals(**others):
    """How values become SQL, by type. They come as texts, instants as microseconds since 1970."""
    same = lambda value: value
    return {
        "VARCHAR": quote,
        "BOOLEAN": same,
        "INTEGER": same,
        "BIGINT": same,
        "DOUBLE": lambda value: f"CAST({value} AS DOUBLE)",
        "DATE": lambda value: f"DATE '{value}'",
        **others,
    }


def count_by_sql(query, source, conditions, as_sql, mark='"'):
    """Each condition is a scan of its own: only so is it pushed down to the files."""
    counts = []
    for place, (name, (kind, value, *_)) in enumerate(conditions.items()):
        column, literal = f"{mark}{name}{mark}", as_sql[kind](value)
        for number, condition in enumerate([f"{column} = {literal}", f"{column} IS NULL", f"{column} >= {literal}"]):
            counts.append(f"SELECT {place} AS place, {number} AS number, count(*) AS rows FROM {source} WHERE {condition}")
    found = query(" UNION ALL ".join(counts)).to_pylist()
    by_place = {(row["place"], row["number"]): row["rows"] for row in found}
    return {name: [by_place[place, number] for number in range(3)] for place, name in enumerate(conditions)}


def python_value(kind, value):
    from datetime import date, datetime, timedelta, timezone

    if kind == "TIMESTAMP":
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=int(value))
    makers = {"VARCHAR": str, "BOOLEAN": "true".__eq__, "INTEGER": int, "BIGINT": int, "DOUBLE": float}
    return {**makers, "DATE": date.fromisoformat}[kind](value)


def count_in_arrow(dataset, name, value):
    import pyarrow.dataset

    column = pyarrow.dataset.field(name)
    conditions = [column == value, column.is_null(), column >= value]
    return [dataset.count_rows(filter=condition) for condition in conditions]


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


def database(file, instance, tables):
    with duckdb.connect(file, read_only=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return {
            table: digests(connection.sql(f"SELECT *, '{instance}' AS instance FROM {table}"))
            for table in tables
        }


def probes(databases, tables):
    """By table and column: type, a value in the middle, and the rows that have it, that have none, and that have it or more."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for instance, file in databases.items():
            connection.execute(f"ATTACH '{file}' AS {instance} (READ_ONLY)")
        found = connection.sql("SELECT table_name, list(database_name) FROM duckdb_tables() GROUP BY ALL").fetchall()
        probes = {table: probes_of(connection, table, instances) for table, instances in found if table in tables}
        return {table: columns for table, columns in probes.items() if columns}


def probes_of(connection, table, instances):
    rows = " UNION ALL BY NAME ".join(f"SELECT * FROM {instance}.main.{table}" for instance in instances)
    columns = connection.sql(f"SELECT * FROM ({rows}) LIMIT 0")
    kinds = {
        name: {"JSON": "VARCHAR", "TIMESTAMP WITH TIME ZONE": "TIMESTAMP"}.get(str(kind), str(kind))
        for name, kind in zip(columns.columns, columns.types)
    }
    cells = {name: f'"{name}"::VARCHAR' if kind == "VARCHAR" else f'"{name}"' for name, kind in kinds.items()}
    middle = {name: f"(SELECT quantile_disc({cell}, 0.5) FROM rows)" for name, cell in cells.items()}
    asked = [
        f"""SELECT '{name}' AS name, {f"epoch_us({middle[name]})" if kind == "TIMESTAMP" else middle[name]}::VARCHAR AS value,
            count(*) FILTER ({cells[name]} = {middle[name]}), count(*) FILTER ({cells[name]} IS NULL),
            count(*) FILTER ({cells[name]} >= {middle[name]}) FROM rows"""
        for name, kind in kinds.items()
    ]
    found = connection.sql(f"WITH rows AS MATERIALIZED ({rows}) {' UNION ALL '.join(asked)}").fetchall()
    return {name: [kinds[name], value, counts] for name, value, *counts in found if value is not None}


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
    if do == "probes":
        return probes(tables=tables, **given)
    if do == "filter":
        return {table: opened.filter(table, conditions, given["by"]) for table, conditions in given["probes"].items()}
    if do == "write":
        return opened.write(**given)
    for table in tables:
        opened.view(table)
    return texts(opened.query(**given))


for line in sys.stdin:
    try:
        reply = {"answer": answer(**json.loads(line))}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), file=out, flush=True)
