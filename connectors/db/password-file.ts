import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandHome, Problem, registerSecret } from '#sdk';
import type { Server, ServerAddress } from './address.ts';

/** The permissions that a password file must not have: any for the group or for other users. */
const othersPermissions = 0o077;

/**
 * Adds the passwords from a password file to the servers of an address that have none, as libpq does. A server without
 * a matching line may not need a password. Throws `DB_PASSWORD_FILE` if the file can't be read, if other users can read
 * it, or if no line matches any of the servers. https://www.postgresql.org/docs/current/libpq-pgpass.html
 */
export async function withPasswords(address: ServerAddress, file: string, folder: string): Promise<ServerAddress> {
  const path = resolve(folder, expandHome(file));
  const lines = await readLines(path);
  const { user = '', database = user } = address;
  const completed = (server: Server): Server => {
    const { host, port } = server;
    if (server.password !== undefined) return server;
    const names = host.startsWith('/') ? [host, 'localhost'] : [host];
    const wanted = [names, [String(port)], [database], [user]];
    const line = lines.find((fields) => wanted.every((texts, i) => fields[i] === '*' || texts.includes(fields[i]!)));
    if (line === undefined) return server;
    const password = line[4]!;
    registerSecret(password);
    return { ...server, password };
  };
  const [first, ...others] = address.servers;
  const servers = [completed(first), ...others.map(completed)] as const;
  if (servers.some(({ password }) => password !== undefined)) return { ...address, servers };
  throw noLine(path, `${servers.map(({ place }) => place).join(', ')}, database ${database}, user ${user}`);
}

function noLine(path: string, seen: string): Problem {
  return new Problem({
    code: 'DB_PASSWORD_FILE',
    family: 'config',
    message: `no line of the password file matches: ${path}`,
    seen,
    next: 'add a line host:port:database:user:password; the first four fields can be *',
  });
}

/** The file's lines, split into five fields. A backslash escapes a colon or a backslash. */
async function readLines(path: string): Promise<readonly (readonly string[])[]> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if ((mode & othersPermissions) !== 0) throw openToOthers(path, mode);
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem({
      code: 'DB_PASSWORD_FILE',
      family: 'config',
      message: `cannot read the password file: ${path}`,
      next: "correct the passfile option, or fix the file's permissions",
      cause,
    });
  }
  return text.split(/\r?\n/).flatMap((line) => {
    const fields = line.startsWith('#') ? null : fiveFields.exec(line);
    return fields === null ? [] : [fields.slice(1).map((field) => field.replaceAll(/\\(.)/g, '$1'))];
  });
}

const fiveFields = new RegExp(`^${Array(5).fill(String.raw`((?:\\.|[^\\:])*)`).join(':')}`);

function openToOthers(path: string, mode: number): Problem {
  return new Problem({
    code: 'DB_PASSWORD_FILE',
    family: 'config',
    message: `other users can read the password file: ${path}`,
    seen: `permissions ${(mode & 0o777).toString(8).padStart(4, '0')}`,
    allowed: '0600 or less',
    next: `run chmod 0600 ${path}`,
  });
}
