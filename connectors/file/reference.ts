/** What the reference page tells beside the options. */
export const reference = {
  columns:
    'Those of the header (csv, xlsx), or all keys and elements of all records (json, xml), in order of first appearance; exactly those of `columns` where that is given. In front `path_column` and `modified_column`, where they are asked for.',
  limits: [
    'Several files of one query must be of one format.',
    'A file that is changed while it is read ends the run, which is tried again later.',
    'The texts of a workbook (xlsx) may be 128 MB together; csv has no bound. Formulas give the value that was last saved.',
    'Nothing found is an error: an export that did not come is not an empty one. With `files: changed` it is nothing new.',
    'With `files: changed`, a file counts as new by its name, size and time, however old that time is (`cp -p`, `rsync -t`). Its folder must exist.',
  ],
  example: `
sources:
  exports:
    connector: file
    folder: /var/exports        # relative paths are meant from here; the config's own folder when absent
jobs:
  orders:
    source: exports
    query: orders-*.csv.gz      # short for query: { path: … }
`,
};
