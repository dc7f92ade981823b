import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import db from '../../connectors/db/index.ts';
import ftp from '../../connectors/ftp/index.ts';
import rest from '../../connectors/simple_rest/index.ts';
import email from '../../src/alerts/channels/email.ts';
import { readAnswer } from '../../src/delivery/answer.ts';
import { HttpAgent, sendRequest } from '../../src/lib/http.ts';
import { callTokenEndpoint } from '../../src/oauth/token-endpoint.ts';
import { batchText, type Connector, type OptionSet, openSsh } from '../../src/sdk/index.ts';
import { contextOf } from '../connectors/harness.ts';
import type { Dialog } from './mutate.ts';

export interface PlayOptions {
  readonly port: number;
  readonly signal: AbortSignal;
  /** The limit on each step, such as connecting. Default: 1, because peers of mutated dialogs often stop responding. */
  readonly timeoutSeconds?: number;
  readonly user?: string;
  readonly password?: string;
  readonly path?: string;
}

/** One protocol that a peer speaks to Sluice. */
export interface Protocol {
  /** A server's real dialog: `node test/fuzz/record.ts`. */
  readonly dialog: () => Dialog;
  readonly data?: () => Dialog;
  readonly greets?: boolean;
  /** Talks to the peer as Sluice does. Returns the cells that would be delivered; throws if nothing would be. */
  readonly play: (options: PlayOptions) => Promise<readonly (string | null)[]>;
  /** The peer never sends anything first. */
  readonly asksForAll?: true;
  /**
   * Not tested with a silent peer: the protocol's own timeout is longer than a dialog should take here, and is tested
   * separately.
   */
  readonly isNeverSilent?: true;
  /** The result of the real dialog. */
  readonly gives: readonly (string | null)[];
  /** A dialog that ends before this chunk is complete returns nothing. If undefined, it may or may not. */
  readonly wholeAt?: (dialog: Dialog) => number;
  /** If true, cells may be decoded from bytes instead of copied. */
  readonly isDecoded?: true;
}

const sql = "select 'one' as word union all select 'two' union all select null union all select 'three'";
const words = ['one', 'two', null, 'three'];

async function extract<S extends OptionSet, Q extends OptionSet>(
  connector: Connector<S, Q>,
  source: Record<string, unknown>,
  { query, signal }: { query: Record<string, unknown>; signal: AbortSignal },
): Promise<(string | null)[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fuzz-'));
  try {
    const { batches } = await connector.extract(contextOf(connector, { source, query, folder, signal }));
    const cells: (string | null)[] = [];
    for await (const batch of batches) cells.push(...batchText(batch).flat());
    return cells;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const database =
  (scheme: string, name: string) =>
  ({ timeoutSeconds = 1, ...options }: PlayOptions) =>
    extract(
      db,
      {
        url: `${scheme}://${options.user ?? 'sluice'}:${options.password ?? 'secret'}@127.0.0.1:${options.port}/${name}`,
        connect_timeout_seconds: timeoutSeconds,
        connections: 100,
      },
      { query: { sql }, signal: options.signal },
    );

interface Recorded {
  readonly dialog: readonly string[];
  readonly data: readonly string[];
}

function recorded(name: string): { dialog: () => Dialog; data: () => Dialog } {
  const read = () => JSON.parse(readFileSync(join(import.meta.dirname, `dialogs/${name}.json`), 'utf8')) as Recorded;
  const bytes = (of: readonly string[]) => of.map((hex) => Buffer.from(hex, 'hex'));
  return { dialog: () => bytes(read().dialog), data: () => bytes(read().data) };
}

const answerLimitBytes = 1024 * 1024;

export const protocols: Readonly<Record<string, Protocol>> = {
  postgres: {
    ...recorded('postgres'),
    play: database('postgres', 'postgres'),
    gives: words,
    // The last piece answers the commit.
    wholeAt: (dialog) => dialog.length - 2,
  },
  mysql: {
    ...recorded('mysql'),
    greets: true,
    play: database('mysql', 'test'),
    gives: words,
    wholeAt: (dialog) => dialog.length - 1,
  },
  tds: {
    ...recorded('tds'),
    play: database('sqlserver', 'shop'),
    gives: words,
    wholeAt: (dialog) => dialog.length - 1,
  },
  ftp: {
    ...recorded('ftp'),
    greets: true,
    play: ({ port, signal, timeoutSeconds = 1, user = 'sluice', password = 'secret', path = '/orders.csv' }) =>
      extract(
        ftp,
        {
          host: '127.0.0.1',
          port,
          user,
          password,
          connect_timeout_seconds: timeoutSeconds,
          idle_timeout_seconds: timeoutSeconds,
          protocol: 'ftp',
        },
        { query: { path, settle_seconds: 0 }, signal },
      ),
    gives: ['1', 'one', '2', 'two', '3', 'three'],
    isDecoded: true,
  },
  ssh: {
    ...recorded('ssh'),
    greets: true,
    async play({ port, signal, timeoutSeconds = 1, user = 'sluice', password = 'secret' }) {
      const login = {
        host: '127.0.0.1',
        port,
        user,
        password,
        host_key: `SHA256:${'A'.repeat(43)}`,
        known_hosts_file: '/nowhere',
        folder: '/nowhere',
        connectTimeoutSeconds: timeoutSeconds,
        idleTimeoutSeconds: timeoutSeconds,
        place: 'ssh://there',
        codes: 'DB_SSH',
      };
      (await openSsh(login, signal)).destroy();
      return [];
    },
    gives: [],
  },
  rest: {
    asksForAll: true,
    ...recorded('rest'),
    play: ({ port, signal, timeoutSeconds = 1 }) =>
      extract(
        rest,
        {
          url: `http://127.0.0.1:${port}`,
          connect_timeout_seconds: timeoutSeconds,
          timeout_seconds: timeoutSeconds,
          retries: 0,
        },
        {
          query: { path: '/rows', records: 'rows', paging: { kind: 'cursor', cursor: 'more', parameter: 'from' } },
          signal,
        },
      ),
    gives: ['aa', 'bb', 'cc'],
    wholeAt: () => 1,
    isDecoded: true,
  },
  oauth: {
    asksForAll: true,
    ...recorded('oauth'),
    async play({ port, timeoutSeconds = 1, user = '', password = '' }) {
      const agent = new HttpAgent({ connectTimeoutMs: timeoutSeconds * 1000 });
      try {
        const pair = Buffer.from(`${user}:${password}`).toString('base64');
        const fields = new URLSearchParams({ grant_type: 'client_credentials', scope: 'read' });
        const form = { headers: { authorization: `Basic ${pair}` }, fields };
        const given = { agent, description: {} as never, now: Date.now, wanted: 'token' as const };
        const { access_token: token } = await callTokenEndpoint(`http://127.0.0.1:${port}/token`, form, given);
        return [String(token)];
      } finally {
        await agent.destroy();
      }
    },
    get gives() {
      return [/"access_token":"([^"]+)"/.exec(String(this.dialog()[0]))![1]!];
    },
    isNeverSilent: true,
    wholeAt: () => 0,
    isDecoded: true,
  },
  service: {
    asksForAll: true,
    ...recorded('service'),
    async play({ port, signal, timeoutSeconds = 1, password = '' }) {
      const timeoutMs = timeoutSeconds * 1000;
      const agent = new HttpAgent({ connectTimeoutMs: timeoutMs });
      try {
        const url = `http://127.0.0.1:${port}/api/1.0/profile`;
        const headers = { 'kf-api-key': password };
        const http = await sendRequest({ agent, method: 'GET', url, headers, timeoutMs, answerLimitBytes, signal });
        const answer = readAnswer(http, Date.now());
        if (!answer.success) throw new Error(answer.words);
        return [String(answer.data.id)];
      } finally {
        await agent.destroy();
      }
    },
    gives: ['acme-admin'],
    isDecoded: true,
  },
  smtp: {
    ...recorded('smtp'),
    greets: true,
    async play({ port, signal, timeoutSeconds = 1 }) {
      const channel = {
        name: 'mail',
        type: 'email',
        server: `smtp://127.0.0.1:${port}`,
        timeoutMs: timeoutSeconds * 1000,
        from: 'a@b.de',
        to: ['c@d.de'],
        tls: 'optional',
      };
      const post = { id: 'x', body: '{}', event: { data: { title: 'title', text: 'text' } } };
      const sent = await email.send!(channel as never, post as never, { signal, now: 0, folder: '/nowhere' });
      if (!sent.ok) throw new Error(sent.message);
      return ['sent'];
    },
    gives: ['sent'],
    wholeAt: (dialog) => dialog.length - 1,
    isDecoded: true,
  },
};
