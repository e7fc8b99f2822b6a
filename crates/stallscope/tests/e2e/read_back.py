"""Reads what `stallscope export` wrote: one JSON object per file on a line, for the test to compare."""

import csv
import json
import pathlib
import sys


def plain(value):
    return value.decode() if isinstance(value, bytes) else value


def parquet(path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    fields = {}
    for field in table.schema:
        about = {plain(key): plain(value) for key, value in (field.metadata or {}).items()}
        fields[field.name] = {"type": str(field.type), **about}
    for index, field in enumerate(table.schema):
        if pyarrow.types.is_timestamp(field.type):
            # Nanoseconds do not fit into Python's datetime.
            table = table.set_column(index, field.name, table.column(index).cast("int64"))
    return {"fields": fields, "rows": [list(row.values()) for row in table.to_pylist()]}


def text(path):
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file, strict=True)
    return {"fields": {name: {} for name in names}, "rows": rows}


for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    if path.suffix in (".parquet", ".csv"):
        read = parquet(path) if path.suffix == ".parquet" else text(path)
        print(json.dumps({"name": path.stem, **read}))
