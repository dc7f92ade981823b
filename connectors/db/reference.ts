/** What the reference page tells beside the options. */
export const reference = {
  resumes:
    'With `cursor`, where it got to is the highest value of that column, exact to the last digit, with hashes of the rows that the next run meets again there.',
  columns:
    'Those of the result, in its order. Their types follow those of the database, and every value keeps all its digits; the table below says what becomes of what.',
  limits: [
    'One statement a job; whatever would write is refused, or undone (SQL Server).',
    'With `cursor` and no `write`, what a run sends replaces what the instance shows: the dashboard has the rows that were new, and no others. With `write: {disposition: merge, key: …}` it has all of them.',
    'With `chunks`, the rows are not of one moment.',
    'SQL Server needs `npm install tedious`. It was tested against the written protocol, not against a server; client certificates, SSH and Azure have not been tried there.',
    'Two columns of one name are an error.',
    'A query of SQLite computes in a process of its own, one for each run, and ends with its run.',
    'MySQL and MariaDB show FLOAT with six digits; a cast to double shows all of them.',
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
