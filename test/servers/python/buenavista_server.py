"""DuckDB behind the PostgreSQL protocol, on the port that is given. The database is in memory."""

import sys

import duckdb
from buenavista.examples.duckdb_postgres import create

create(duckdb.connect(), ("127.0.0.1", int(sys.argv[1]))).serve_forever()
