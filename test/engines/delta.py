"""Works on a Delta table with deltalake: each argument is a statement. Prints what each answers as JSON, one on a line."""
import json
import sys

import polars
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

folder, *statements = sys.argv[1:]


def rows(version=None):
    """Instance, key and run of all rows as texts, sorted, as polars reads them from the table's log."""
    frame = polars.read_delta(folder, version=version)
    return sorted([str(cell) for cell in row] for row in frame.select("instance", "id", "run").rows())


for statement in statements:
    name, *arguments = statement.split(" ", 1)
    table = DeltaTable(folder)
    match name:
        case "rows":
            print(json.dumps(rows(*map(int, arguments))))
        case "version":
            print(json.dumps(table.version()))
        case "columns":
            print(json.dumps([field.name for field in table.schema().fields]))
        case "sequence":
            print(json.dumps(table.transaction_version(*arguments)))
        case "checkpoint":
            table.create_checkpoint()
            print("null")
        case "optimize":
            print(json.dumps(table.optimize.compact()["numFilesRemoved"]))
        case "vacuum":
            removed = table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
            print(json.dumps(len(removed)))
        case "delete":
            print(json.dumps(table.delete(*arguments)["num_deleted_rows"]))
        case "property":
            table.alter.set_table_properties(dict([arguments[0].split("=")]))
            print("null")
        case "add_column":
            table.alter.add_columns([Field(*arguments, PrimitiveType("string"))])
            print("null")
        case _:
            raise SystemExit(f"no such statement: {statement}")
