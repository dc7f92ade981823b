/** The content of the reference page, except for the options. */
export const reference = {
  resumes:
    'With `cursor`, the watermark is the highest value of that column with all digits, and hashes of the rows that the next run reads again at that value.',
  columns:
    'The columns of the result, in the same order. Types follow the database, and values keep all their digits; see the table below.',
  limits: [
    'One statement per job; statements that write are refused, or rolled back (SQL Server).',
    'With `cursor` and without `write`, each run replaces what the instance shows, so the dashboard has only the new rows. With `write: {disposition: merge, key: …}`, it has all rows.',
    'With `chunks`, rows are not from one snapshot.',
    'SQL Server needs `npm install tedious`. It was tested against the protocol specification, not against a server; client certificates, SSH and Azure are untested.',
    'Two columns with the same name are an error.',
    'Each SQLite query runs in its own process, which ends with its run.',
    'MySQL and MariaDB return FLOAT with six digits; cast to double to get all of them.',
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
