"""Runs the lines of a page that open a warehouse, then questions, and prints the rows of each as JSON."""
import datetime
import decimal
import json
import sys

opening, questions = json.load(sys.stdin)
names = {}
exec(opening, names)


def rows(sql):
    if "spark" in names:
        return [tuple(row) for row in names["spark"].sql(sql).collect()]
    return names["warehouse"].sql(sql).fetchall()


def plain(value):
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, datetime.date) else value


print(json.dumps([[[plain(value) for value in row] for row in rows(sql)] for sql in questions]))
