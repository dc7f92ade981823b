import { afterAll, beforeAll, describe, it } from 'vitest';
import { hasMariadb, startMariadb } from './mariadb.ts';
import { hasMysql, startMysql } from './mysql.ts';
import { hasPostgres, startPostgres } from './postgres.ts';
import type { ServerSettings, TestServer } from './server.ts';

const kinds = {
  PostgreSQL: { isInstalled: hasPostgres, start: startPostgres, packages: 'postgresql' },
  MariaDB: { isInstalled: hasMariadb, start: startMariadb, packages: 'mariadb-server-core mariadb-client-core' },
  /** From a registry, so only for suites in `test/real`. */
  MySQL: { isInstalled: hasMysql, start: startMysql, packages: 'maven python3 libaio1 libnuma1' },
};

export type ServerKind = keyof typeof kinds;

export interface Suite {
  /** The servers that the suite needs. Each starts once for the whole suite. */
  readonly servers: ServerKind | readonly ServerKind[];
  readonly settings?: ServerSettings | (() => Promise<ServerSettings>);
}

/**
 * A `describe` for real servers. The body gets a function that returns the running server of a kind (by default, the
 * first one); call it only in tests and hooks. If the machine lacks a server, the suite reports by name what it didn't
 * run, which counts as a failure if `CI` is set.
 */
export function describeWithServer(
  { servers, settings }: Suite,
  title: string,
  body: (server: (kind?: ServerKind) => TestServer) => void,
): void {
  const wanted: readonly ServerKind[] = typeof servers === 'string' ? [servers] : servers;
  const missing = wanted.filter((kind) => !kinds[kind].isInstalled());
  if (missing.length === 0) describeRunning({ wanted, title, body, ...(settings === undefined ? {} : { settings }) });
  else reportMissing(title, missing, packagesOf(missing));
}

interface Running {
  readonly wanted: readonly ServerKind[];
  readonly title: string;
  readonly settings?: Suite['settings'];
  readonly body: (server: (kind?: ServerKind) => TestServer) => void;
}

function describeRunning({ wanted, title, settings, body }: Running): void {
  const running = new Map<ServerKind, TestServer>();
  describe(title, () => {
    beforeAll(async () => {
      const given = typeof settings === 'function' ? await settings() : settings;
      for (const kind of wanted) running.set(kind, await kinds[kind].start(given));
    });
    afterAll(async () => {
      for (const server of running.values()) await server.stop();
    });
    body((kind = wanted[0]!) => {
      const server = running.get(kind);
      if (server === undefined) throw new Error(`${kind} is not running here`);
      return server;
    });
  });
}

/** The Debian packages with the servers. */
export function packagesOf(missing: readonly ServerKind[]): string {
  return missing.map((kind) => kinds[kind].packages).join(' ');
}

/** What runs instead of the suite if the machine lacks servers; `packages` are Debian's. */
export function reportMissing(title: string, missing: readonly string[], packages: string): void {
  const message = missingText(missing, packages);
  if (isCi()) {
    it(title, () => Promise.reject(new Error(message)));
    return;
  }
  process.stderr.write(`NOT RUN: ${title}. ${message}\n`);
  it.skip(`${title} (not run: ${message})`, () => {});
}

export const missingText = (missing: readonly string[], packages: string): string =>
  `${missing.join(' and ')} not found on this machine: apt-get install ${packages}`;

/** Whether the tests run in CI, where nothing may be missing. */
export function isCi(): boolean {
  const ci = process.env.CI;
  return ci !== undefined && ci !== '' && ci !== 'false' && ci !== '0';
}
