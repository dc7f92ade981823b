import type { CanonicalRows, Options, TestSource, World } from '#sdk/testing';
import type { Column } from '../../../src/sdk/index.ts';
import { freePort } from '../../servers/free-port.ts';
import { TestLogin } from './logins.ts';
import { type Asked, type Reply, type Routes, Vendor } from './vendor.ts';

interface WorldInit {
  /** Options of the source; `api_url` is added. */
  readonly source?: Options;
  readonly query: Options;
  readonly routes: Routes;
  readonly columns: readonly Column[];
  readonly rows: CanonicalRows;
  readonly refused: NonNullable<TestSource['refused']>;
  /** The routes generate pages on request, at least 16 MB of cells. */
  readonly many?: NonNullable<TestSource['many']>;
  readonly hostile?: NonNullable<TestSource['hostile']>;
  readonly resume?: NonNullable<TestSource['resume']>;
  readonly waived?: World['waived'];
  /** Fields of the token response. */
  readonly kept?: Readonly<Record<string, string>>;
  /** For services without OAuth: wrong credentials, and a guard that checks a request's credentials. */
  readonly login?: { readonly wrong: Options; readonly guard: (asked: Asked) => Reply | undefined };
}

/** If columns are declared, no hostile names can arrive. */
export const ownNames = { hostile: 'its columns are declared, and their names are not up to the vendor' } as const;

/**
 * A service's world for the standard suite: the vendor's double, once as it is, once with wrong tokens and once at an
 * unreachable address.
 */
export function serviceWorld(init: WorldInit): World {
  const { source = {}, waived, login, kept } = init;
  return {
    ...(waived === undefined ? {} : { waived }),
    async open() {
      const guard = login?.guard ?? tokenGuard;
      const vendor = await new Vendor({ routes: init.routes, guard, forgetful: true }).start();
      const unreachable = `http://127.0.0.1:${await freePort()}`;
      const { query, columns, rows, refused, many, hostile, resume } = init;
      return {
        source: { ...source, api_url: vendor.url, retries: 0 },
        query,
        columns,
        rows,
        refused,
        ...(login === undefined ? { login: new TestLogin(kept), secrets: ['token-1'] } : {}),
        credentials: login === undefined ? { login: new WrongLogin(kept) } : { source: login.wrong },
        unreachable: { source: { api_url: unreachable } },
        ...(many && { many }),
        ...(hostile && { hostile }),
        ...(resume && { resume }),
        close: () => vendor.stop(),
      };
    },
  };
}

class WrongLogin extends TestLogin {
  override get current(): string {
    return `wrong-${this.refusals.length}`;
  }
}

function tokenGuard({ headers }: Asked): Reply | undefined {
  return /^Bearer token-\d+$/.test(headers.authorization ?? '')
    ? undefined
    : { status: 401, json: { error: 'bad token' } };
}
