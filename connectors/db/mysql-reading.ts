import { cutText, Problem } from '#sdk';
import { withoutQuoted } from './mysql-statement.ts';

const reading = ['select', 'with', 'values', 'table', 'show', 'describe', 'desc', 'explain'];

/** Privileges that change nothing. */
const harmless =
  /^(?:usage|select|show (?:view|databases|create routine)|process|replication client|binlog monitor|(?:slave|replica) monitor|create temporary tables|lock tables)$/i;

/**
 * Refuses statements that a read-only transaction does not stop: a compound statement can end it and begin another, a procedure does
 * what it likes, `into outfile` writes a file, and administrative statements write to the server. So a statement has to begin with a
 * word that reads. Comments that a server may execute depend on its version, so none stands before that word. Throws
 * `DB_WRITE_REFUSED`.
 */
export function refuseWrites(sql: string): void {
  for (const text of withoutQuoted(sql)) {
    const first = /^[\s(]*([a-z]*)/i.exec(text)?.[1]?.toLowerCase() ?? '';
    if (!reading.includes(first)) throw refused(sql, `it begins with none of the words that read`);
    // OUTFILE is reserved: without quotes it has no other meaning.
    if (/\boutfile\b/i.test(text) || (/\binto\b/i.test(text) && /\bdumpfile\b/i.test(text)))
      throw refused(sql, 'it writes a file on the server');
  }
}

/** The privileges by which an account may change something, by what `show grants` says of it; each once. */
export function writePrivileges(grants: readonly string[]): string[] {
  const listed = grants.flatMap((grant) => /^grant (.+?) on /is.exec(grant)?.[1]?.replaceAll(/\([^)]*\)/g, '') ?? []);
  const names = listed.flatMap((list) => list.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => !harmless.test(name) && name !== 'PROXY'))];
}

function refused(sql: string, because: string): Problem {
  return new Problem({
    code: 'DB_WRITE_REFUSED',
    family: 'job',
    message: `the statement is not run: ${because}`,
    seen: cutText(sql, 80),
    allowed: `one statement that begins with ${reading.join(', ')}`,
    next: 'use a query; turn the procedure into a query or a view',
  });
}
