"""Reads tables of a database with dlt. Reads a JSON object from stdin and prints a JSON list of the values or errors."""

import json
import sys
import tempfile

import dlt
from dlt.sources.sql_database import sql_table


def run(url, table):
    rows = []

    @dlt.destination(batch_size=1000, name="memory")
    def memory(items, table):
        if not table["name"].startswith("_dlt"):
            rows.extend(items)

    with tempfile.TemporaryDirectory() as folder:
        pipeline = dlt.pipeline("zoo", destination=memory, pipelines_dir=folder)
        pipeline.run(sql_table(url, table))
    # As text, because the reader of these numbers may round them.
    return [None if row.get("v") is None else str(row["v"]) for row in sorted(rows, key=lambda row: row["id"])]


def main():
    given = json.load(sys.stdin)
    answers = []
    for table in given["tables"]:
        try:
            answers.append({"values": run(given["url"], table)})
        except Exception as error:  # whatever it is, it's the result
            answers.append({"error": str(error)[-300:]})
    print(json.dumps(answers))


main()
