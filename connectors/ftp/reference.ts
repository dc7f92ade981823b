/** What the reference page tells beside the options. */
export const reference = {
  columns:
    'Those of the header (csv, xlsx), or all keys and elements of all records (json, xml), in order of first appearance; exactly those of `columns` where that is given. In front `path_column` and `modified_column`, where they are asked for.',
  limits: [
    'Nothing on the server is ever changed: no file is moved, renamed or deleted.',
    'Each file is brought here whole before its first row is read, so the disk must hold the files of one run.',
    'A file that is listed and matches is read, or the run fails: a line of a listing that is not understood, and a file that is listed but refused, are errors that show the line or the file. LIST is understood as Unix (`ls -l`) and DOS (`dir`) write it.',
    'Symbolic links to files are followed. Links to folders are not, and links that lead nowhere are left out; the log counts both, and a run warns about the first. Name a linked folder in front of the pattern to read it.',
    'A file that changes while it is read, and one whose marker is missing, is a reason to try again later. A transfer that breaks goes on where it broke if size, time and the last 64 kB before the break are still the same; it starts from the beginning if the server tells no times.',
    'A file that matches a pattern and ends in .part, .filepart or .partial is an unfinished upload: it is left out with a warning, unless the pattern ends so too.',
    'With `files: changed`, a file counts as new by its name, size and time, however old that time is. A folder that is missing or denied is an error.',
    'Servers tell times in whole seconds. A file that is written anew within the same second, in the same size, cannot be told from the one before: give new data a new name.',
    'A host key that nobody vouches for is refused, with its fingerprint and how to trust it. Certificates of SSH authorities are not read.',
    'Which answers of servers pass and which wait for a person is listed in docs/faults.md.',
    'FTP servers without MLSD are asked for the time of each file by MDTM, a question per file that matches. Without both, files cannot be told by age.',
    'The texts of a workbook (xlsx) may be 128 MB together; csv has no bound. Formulas give the value that was last saved.',
  ],
  example: `
sources:
  partner:
    connector: ftp
    protocol: sftp
    host: files.example.com
    user: reader
    private_key_file: id_ed25519
    host_key: SHA256:rJEBgc5wcMYTbUnB0Bw3dQtwOtCvmG2q9Q1Xh1h1h1g
    folder: /outgoing
jobs:
  orders:
    source: partner
    query:
      path: "2026/**/orders-*.csv.gz"
      files: newest
      marker: .done
      path_column: file
`,
};
