/** The content of the reference page, except for the options. */
export const reference = {
  resumes:
    'With `cursor`, the watermark is that column’s highest value with all its digits, and hashes of the rows with that value, which the next run reads again.',
  columns:
    'The columns of the query’s result, in the same order. The table below maps database types to column types; values keep all their digits.',
  limits: [
    'A job runs only one statement. Statements that write are refused or, on SQL Server, rolled back.',
    'With `cursor` and without `write`, each run replaces what the instance shows, so the dashboard shows only the new rows. With `write: {disposition: merge, key: …}`, it has all rows.',
    'With `chunks`, rows do not come from a single snapshot.',
    'ClickHouse support was tested with ClickHouse’s engine, but not with a whole server; logins are untested.',
    'BigQuery and Snowflake support was tested against doubles of their REST APIs, not against the services.',
    'SQL Server requires `npm install tedious`. SQL Server support was tested against the protocol specification, not against a real server; client certificates, SSH and Azure are untested.',
    'DuckDB and Parquet files require `npm install @duckdb/node-api`, which takes 70 MB.',
    'If two columns of the result have the same name, the run fails.',
    'Each SQLite or DuckDB query runs in a separate process, which ends when the job’s run ends.',
    'MySQL and MariaDB return FLOAT values with six digits; cast the column to double to get all digits.',
  ],
  example: `
sources:
  shop:
    connector: db
    url: postgres://reader:\${env:DB_PASSWORD}@db.example.com/shop
    tls: { mode: verify, ca_file: ca.pem }
jobs:
  orders:
    source: shop
    query:
      sql: select id, customer, amount, day from orders where amount > $1 order by id
      parameters: [1]
`,
};
