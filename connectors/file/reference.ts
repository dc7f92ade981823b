/** The reference page's content, except for the options. */
export const reference = {
  columns:
    'The columns of the header (csv, xlsx), or all keys and elements of all records (json, xml) in order of first appearance; exactly `columns` if that is set. `path_column` and `modified_column` come first, if set.',
  limits: [
    'All files in a query must have the same format.',
    'If a file changes while it is read, the run ends and is retried later.',
    'The text in a workbook (xlsx) is limited to 128 MB; csv has no limit. Formulas return their last saved value.',
    'If no file matches, the run fails, because a missing export is not an empty one. With `files: changed`, no matching file simply means that nothing is new.',
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
