import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { Problem } from '../../lib/problem.ts';

/** Returns a config's text, or the reason why it can't be used: the file is missing, unreadable, or not valid UTF-8. */
export async function readText(file: string): Promise<string | Problem> {
  try {
    const bytes = await readFile(file);
    return isText(bytes) ? bytes.toString('utf8') : notUtf8(file, bytes);
  } catch (error) {
    return unreadable(file, error as NodeJS.ErrnoException);
  }
}

function unreadable(file: string, cause: NodeJS.ErrnoException): Problem {
  const isAbsent = cause.code === 'ENOENT';
  const fix = cause.code === 'EISDIR' ? 'set a file in this folder with --config' : "fix the file's permissions";
  return new Problem({
    code: 'CONFIG_UNREADABLE',
    family: 'config',
    message: isAbsent ? `Config not found: ${file}` : `Cannot read the config ${file}`,
    where: { file },
    ...(isAbsent ? {} : { seen: cause.message }),
    next: isAbsent ? 'create one with "sluice init", or set the path with --config FILE' : fix,
    cause,
  });
}

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** Decoding the file as UTF-8 anyway would send names with replacement characters to the dashboard. */
function notUtf8(file: string, bytes: Buffer): Problem {
  const seen = bytes.includes(0) ? 'zero bytes, as in UTF-16' : 'bytes that look like Windows-1252 or Latin-1';
  return new Problem({
    code: 'CONFIG_NOT_UTF8',
    family: 'config',
    message: 'Invalid encoding: the config is not UTF-8',
    where: { file, line: firstBadLine(bytes) },
    seen,
    allowed: 'UTF-8, with or without a byte order mark',
    next: 'save the file as UTF-8',
  });
}

/**
 * Returns the line number, starting at 1. A byte of a multi-byte character is never a line break, so each line can be
 * checked separately.
 */
function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf('\n', start);
    if (end === -1 || !isText(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
