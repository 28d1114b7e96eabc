"""Works on a Delta table with deltalake: each argument is a statement. Prints what each answers as JSON, one on a line."""
import json
import sys

import polars
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

folder, *statements = sys.argv[1:]


def answer(frame):
    """Rows as texts, sorted."""
    return sorted([None if cell is None else str(cell) for cell in row] for row in frame.rows())


def rows(version=None):
    """All rows, as polars reads them from the table's log."""
    columns = ["instance", "content_id", "word_count", "seen_at", "day", "total", "share", "live", "extra", "note"]
    frame = polars.read_delta(folder, version=version)
    return answer(frame.select([name for name in columns if name in frame.columns]))


for statement in statements:
    name, *arguments = statement.split(" ", 1)
    table = DeltaTable(folder)
    match name:
        case "rows":
            print(json.dumps(rows(*map(int, arguments))))
        case "version":
            print(json.dumps(table.version()))
        case "columns":
            print(json.dumps([[field.name, field.type.type, field.nullable] for field in table.schema().fields]))
        case "description":
            print(json.dumps([table.metadata().name, table.metadata().description]))
        case "sequence":
            print(json.dumps(table.transaction_version(*arguments)))
        case "history":
            print(json.dumps([entry["operation"] for entry in table.history()]))
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
