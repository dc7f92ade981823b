/** The content of the reference page, except for the options. */
export const reference = {
  columns:
    'The header’s columns (csv, xlsx), or the keys or elements of all records in order of first appearance (json, xml). If `columns` is set, exactly those columns. `path_column` and `modified_column` come first, if set.',
  limits: [
    'Files on the server are only moved, renamed or deleted if `after_delivery` says so, and then only after the service has accepted their rows. A file’s marker is deleted before the file is. [After the delivery](file.md#after-the-delivery) explains when.',
    'FTP and SFTP servers can’t tell a replaced file from the one that was read if its size and time are the same, and most FTP servers replace an existing file without an error. Give files with new data a new name if they are moved or deleted after their delivery. After a file was renamed to move or delete it, only its size can be compared: a new file of the same size that replaces it at that very moment is moved or deleted unread, and so is any new file if the connection is lost just after a move. If the user may delete files but not rename them, every file that is replaced at the very moment of its deletion is deleted, too.',
    'Each file is downloaded completely before its first row is read, so the disk must have space for all files of a run.',
    'A run reads every matching file in a listing or fails. If a listing line cannot be parsed or the server refuses a listed file, the run fails, and the error shows the line or the file. LIST output can be in Unix (`ls -l`) or DOS (`dir`) format.',
    'Symbolic links to files are followed. Links to folders and broken links are skipped; the log counts both, and a run warns about the first one. To read a linked folder, put the link before the pattern.',
    'If a file changes while it is being read, or its marker file is missing, the run is retried later. An interrupted transfer resumes if the size, the time and the last 64 kB before the interruption are unchanged; it starts over if the server reports no times.',
    'A matching file that ends in .part, .filepart, .partial or .tmp is an unfinished upload: it is skipped with a warning, unless the path has such an ending. A file that is younger than `min_age`, by the server’s times, is left for the next run with `files: changed`; otherwise, the run is retried later.',
    'Dates in `path`, `offset` and `days` work as for [local files](file.md#files).',
    'With `files: changed`, a file is recognized as new by its name, size and modification time, however old that time is. If the folder is missing or access is denied, the run fails.',
    'Servers report times in whole seconds. Sluice cannot detect that a file was rewritten within the same second with the same size, so give files with new data a new name.',
    'An unknown host key is refused; the message shows its fingerprint and how to trust it. SSH certificate authorities are not supported.',
    'With ftps, a certificate that isn’t trusted is refused before the login is sent. `tls: {mode: require, verify: false}` accepts any certificate, so an attacker between Sluice and the server can read the login and the files.',
    'docs/faults.md lists which server errors are retried and which must be fixed by hand.',
    'On FTP servers without MLSD, the time of each matching file is requested with MDTM. On servers with neither MLSD nor MDTM, files have no modification time.',
    'The text in a workbook (xlsx) is limited to 128 MB; csv files have no limit. Formula cells return their last saved value.',
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
