import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type * as Tedious from 'tedious';
import { Problem } from '#sdk';
import { exactValue, type TdsType } from './sqlserver-values.ts';

/**
 * Everything of tedious that is not in its documented interface stands in this file: its parser of rows asks one function
 * for each value. That function is asked first, for where the value ends; then the exact one is read from the bytes. And
 * what it writes to the console on its own is kept from there.
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

/** The driver, from beside Sluice or from beside the config. Throws a Problem that says how to install it. */
export function loadTedious(folder: string, places = [import.meta.url, join(folder, 'sluice.yaml')]): typeof Tedious {
  for (const place of places) {
    const require = createRequire(place);
    try {
      require.resolve('tedious');
    } catch {
      continue;
    }
    makeExact(require('tedious/lib/value-parser') as ValueParser);
    keepFromConsole(require('tedious/lib/token/stream-parser') as { prototype: TokenParser });
    keepFromWarnings(require('tedious/lib/token/handler') as { tds71DeprecationWarning?: { emitted: boolean } });
    return require('tedious') as typeof Tedious;
  }
  throw new Problem({
    code: 'DB_DRIVER_MISSING',
    family: 'config',
    message: 'the driver for SQL Server is not installed',
    next: 'run `npm install tedious` in the folder where Sluice is installed, or in the folder of the config',
  });
}

/** Decimals, money and fractions of seconds beyond a thousandth would be rounded otherwise. */
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
  /** Where the token begins. */
  position: number;
  parseToken: ((parser: unknown) => unknown) & { isQuiet?: true };
}

const environmentChange = 0xe3;
/** The kinds of change that tedious knows ([MS-TDS] 2.2.7.9); for another one it prints a line and passes over it. */
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

/** That a future version of tedious will not read from SQL Server 2000 concerns the next version of Sluice. */
function keepFromWarnings({ tds71DeprecationWarning }: { tds71DeprecationWarning?: { emitted: boolean } }): void {
  if (tds71DeprecationWarning !== undefined) tds71DeprecationWarning.emitted = true;
}

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * What tedious opens its sockets with: by name, as the other drivers do. By itself it resolves names first, so the place that
 * decides which addresses may be connected to sees an address, and reports it. tedious hands over where to connect, which is
 * another server after a redirect (Azure SQL); its types do not say so.
 */
export function connectorTo(to: ServerAddress | { readonly path: string }): () => Promise<Socket> {
  return async (redirected?: ServerAddress) => connect('path' in to ? to : { ...to, ...redirected });
}

/** The tedious that is installed is none that we know the inside of. */
export function driverChanged(): Problem {
  return new Problem({
    code: 'DB_DRIVER_CHANGED',
    family: 'bug',
    message: 'the tedious package has changed inside: it reads values by another way than the one we know',
    next: 'install version 20 of tedious',
  });
}
