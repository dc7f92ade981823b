import { connect, type Socket } from 'node:net';
import type * as Tedious from 'tedious';
import { Problem } from '#sdk';
import { requireOptional } from './optional-package.ts';
import { exactValue, type TdsType } from './sqlserver-values.ts';

/**
 * Everything that uses tedious's undocumented interface is in this file. tedious's row parser calls one function per
 * value. The wrapper in this file calls that function to find the end of the value, then reads the exact value from the
 * bytes. This file also suppresses the driver's console output.
 */
interface ValueParser {
  readValue: ReadValue & { isExact?: true };
}

type ReadValue = (
  bytes: Buffer,
  offset: number,
  metadata: { readonly type: { readonly name: string }; readonly scale?: number },
  options: unknown,
) => { value: unknown; readonly offset: number };

/** Loads the driver. If it isn't installed, throws a Problem that includes the command to install it. */
export function loadTedious(folder: string, places?: readonly string[]): typeof Tedious {
  const require = requireOptional('tedious', { title: 'SQL Server', folder, places });
  makeExact(require('tedious/lib/value-parser') as ValueParser);
  keepFromConsole(require('tedious/lib/token/stream-parser') as { prototype: TokenParser });
  keepFromWarnings(require('tedious/lib/token/handler') as { tds71DeprecationWarning?: { emitted: boolean } });
  return require('tedious') as typeof Tedious;
}

/**
 * Makes the parser return exact values. Otherwise, the driver would round decimals, money and fractions of a
 * millisecond.
 */
function makeExact(parser: ValueParser): void {
  const read = parser.readValue;
  if (typeof read !== 'function') throw driverChanged();
  if (read.isExact) return;
  const exact: ValueParser['readValue'] = (bytes, offset, metadata, options) => {
    const result = read(bytes, offset, metadata, options);
    if (result.value === null) return result;
    const type: TdsType = { name: metadata.type.name, scale: metadata.scale };
    const value = exactValue(type, { bytes, start: offset, end: result.offset });
    if (value !== undefined) result.value = value;
    return result;
  };
  exact.isExact = true;
  parser.readValue = exact;
  if (parser.readValue !== exact) throw driverChanged();
}

interface TokenParser {
  readonly buffer: Buffer;
  /** Start of the token. */
  position: number;
  parseToken: ((parser: unknown) => unknown) & { isQuiet?: true };
}

const environmentChange = 0xe3;
/**
 * The ENVCHANGE types that tedious supports ([MS-TDS] 2.2.7.9). For other types, tedious prints a line and skips the
 * message.
 */
const knownChanges = new Set([1, 2, 3, 4, 7, 8, 9, 10, 13, 18, 20]);

function keepFromConsole({ prototype }: { prototype: TokenParser }): void {
  const parse = prototype.parseToken;
  if (typeof parse !== 'function') throw driverChanged();
  if (parse.isQuiet) return;
  const quiet: TokenParser['parseToken'] = function parseToken(this: TokenParser, parser) {
    const { buffer, position } = this;
    const end = position + 3 < buffer.length ? position + 3 + buffer.readUInt16LE(position + 1) : buffer.length + 1;
    const isStrange = buffer[position] === environmentChange && !knownChanges.has(buffer[position + 3]!);
    if (!isStrange || end > buffer.length) return parse.call(this, parser);
    this.position = end;
    return undefined;
  };
  quiet.isQuiet = true;
  prototype.parseToken = quiet;
}

/** Suppresses the deprecation notice about SQL Server 2000, which only affects a future version of tedious. */
function keepFromWarnings({ tds71DeprecationWarning }: { tds71DeprecationWarning?: { emitted: boolean } }): void {
  if (tds71DeprecationWarning !== undefined) tds71DeprecationWarning.emitted = true;
}

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens tedious's sockets by host name, as the other drivers do. By default, tedious resolves names first, so the check
 * for allowed addresses would only see an IP address. After a redirect (Azure SQL), tedious passes a different host in
 * a parameter that its types don't include.
 */
export function connectorTo(to: ServerAddress | { readonly path: string }): () => Promise<Socket> {
  return async (redirected?: ServerAddress) => connect('path' in to ? to : { ...to, ...redirected });
}

/** The error for a tedious version with unknown internals. */
export function driverChanged(): Problem {
  return new Problem({
    code: 'DB_DRIVER_CHANGED',
    family: 'bug',
    message: 'unsupported tedious package: its internal value parser has changed',
    next: 'install version 20 of tedious',
  });
}
