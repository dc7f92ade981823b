/** The content of the reference page, except for the options. */
export const reference = {
  columns:
    'The header’s columns (csv, xlsx), or the keys or elements of all records in order of first appearance (json, xml). If `columns` is set, exactly those columns. `path_column` and `modified_column` come first, if set.',
  limits: [
    'All files in a query must have the same format.',
    'If a file changes while it is being read, the run stops and is retried later.',
    'The text in a workbook (xlsx) is limited to 128 MB; csv files have no limit. Formula cells return their last saved value.',
    'If no file matches, the run fails, because a missing export is not an empty one. With `files: changed`, a run without matching files succeeds, because it means that nothing is new.',
    'With `files: changed`, a file is recognized as new by its name, size and modification time, however old that time is (`cp -p`, `rsync -t`). Its folder must exist.',
  ],
  example: `
sources:
  exports:
    connector: file
    folder: /var/exports        # base of relative paths; default: the config's folder
jobs:
  orders:
    source: exports
    query: orders-*.csv.gz      # short for query: { path: … }
`,
};
