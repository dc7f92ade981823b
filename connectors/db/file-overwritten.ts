import { Problem } from '#sdk';

/** The error for rows that are from more than one version of the file. */
export class FileOverwritten extends Error {
  override readonly name = 'FileOverwritten';

  constructor() {
    super('the file was overwritten while it was being read');
  }
}

/** A file was overwritten in the middle of a read. */
export function fileChanged(cause: FileOverwritten, path: string): Problem {
  return new Problem({
    code: 'DB_FILE_CHANGED',
    family: 'try_later',
    message: `cannot read ${path}: ${cause.message}`,
    next: 'write the new file under another name in that folder and rename it over this one, as in: mv new.db shop.db',
    cause,
  });
}
