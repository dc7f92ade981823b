import { cutText, Problem } from '#sdk';
import { withoutQuoted } from './mysql-statement.ts';

const reading = ['select', 'with', 'values', 'table', 'show', 'describe', 'desc', 'explain'];

/** Read-only privileges. */
const harmless =
  /^(?:usage|select|show (?:view|databases|create routine)|process|replication client|binlog monitor|(?:slave|replica) monitor|create temporary tables|lock tables)$/i;

/**
 * Rejects statements that can write even in a read-only transaction. A compound statement can end the transaction and
 * start another one, a procedure can do anything, `into outfile` writes a file, and administrative statements change
 * the server. A statement must therefore start with a read-only keyword. No comment may precede the keyword, because
 * some versions execute comments. Throws `DB_WRITE_REFUSED`.
 */
export function refuseWrites(sql: string): void {
  for (const text of withoutQuoted(sql)) {
    const first = /^[\s(]*([a-z]*)/i.exec(text)?.[1]?.toLowerCase() ?? '';
    if (!reading.includes(first)) throw refused(sql, `it does not begin with a read-only keyword`);
    // OUTFILE is a reserved word, so it has no other meaning unless it's quoted.
    if (/\boutfile\b/i.test(text) || (/\binto\b/i.test(text) && /\bdumpfile\b/i.test(text)))
      throw refused(sql, 'it writes a file on the server');
  }
}

/** An account's write privileges, without duplicates, as listed by `show grants`. */
export function writePrivileges(grants: readonly string[]): string[] {
  const listed = grants.flatMap((grant) => /^grant (.+?) on /is.exec(grant)?.[1]?.replaceAll(/\([^)]*\)/g, '') ?? []);
  const names = listed.flatMap((list) => list.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => !harmless.test(name) && name !== 'PROXY'))];
}

function refused(sql: string, because: string): Problem {
  return new Problem({
    code: 'DB_WRITE_REFUSED',
    family: 'job',
    message: `statement refused: ${because}`,
    seen: cutText(sql, 80),
    allowed: `one statement that begins with ${reading.join(', ')}`,
    next: 'use a query; replace a procedure call with a query or a view',
  });
}
