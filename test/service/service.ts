import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { type RunningService, type ServiceOptions, startService } from '../../src/service/service.ts';
import { answerFaults } from './answers.ts';

/** Keys of the users in {@link fixtures}. Each name contains the company and the role. */
export const keys = {
  acmeAdmin: 'aa'.repeat(20),
  acmeEditor: 'ae'.repeat(20),
  acmeViewer: 'a0'.repeat(20),
  acmeReporter: 'a4'.repeat(20),
  acmeNobody: 'a9'.repeat(20),
  otherAdmin: 'bb'.repeat(20),
  clientAdmin: 'cc'.repeat(20),
} as const;

export const fixtures = {
  companies: [
    {
      id: 'acme',
      name: 'Acme',
      plan: 'grow',
      roles: [
        { name: 'Reporter', permissions: ['account.api', 'dashboard.library'] },
        { name: 'Nobody', permissions: [] },
      ],
      users: [
        {
          id: 'acme-admin',
          email: 'admin@acme.test',
          password: 'correct horse',
          role: 'Admin',
          api_keys: [keys.acmeAdmin],
        },
        {
          id: 'acme-editor',
          email: 'ed@acme.test',
          first_name: 'Ed',
          last_name: 'It',
          role: 'Editor',
          api_keys: [keys.acmeEditor],
        },
        { id: 'acme-viewer', email: 'vi@acme.test', role: 'View-Only', api_keys: [keys.acmeViewer] },
        { id: 'acme-reporter', email: 're@acme.test', role: 'Reporter', api_keys: [keys.acmeReporter] },
        { id: 'acme-nobody', email: 'no@acme.test', role: 'Nobody', api_keys: [keys.acmeNobody] },
      ],
      groups: [{ id: 'acme-team', name: 'Team', members: ['vi@acme.test'] }],
      clients: [
        {
          id: 'bakery',
          name: 'Bakery',
          users: [{ id: 'bakery-admin', email: 'admin@bakery.test', role: 'Admin', api_keys: [keys.clientAdmin] }],
          groups: [{ id: 'bakery-team', name: 'Team', members: [] }],
        },
      ],
    },
    {
      id: 'other',
      name: 'Other',
      plan: 'starter',
      users: [{ id: 'other-admin', email: 'admin@other.test', role: 'Admin', api_keys: [keys.otherAdmin] }],
      groups: [{ id: 'other-team', name: 'Team', members: [] }],
      clients: [{ id: 'cafe', name: 'Cafe' }],
    },
  ],
};

/** Waits until a condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(condition, { interval: 20 }).toBe(true);
}

/** A folder that is deleted when the test ends. */
export async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-service-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
  readonly body: Envelope;
}

export interface Envelope {
  readonly meta: {
    readonly success: boolean;
    readonly status: number;
    readonly error_code?: string;
    readonly error_desc?: string;
    readonly error_id?: string;
    readonly location?: string;
    readonly instance_location?: string;
    readonly count?: number;
    readonly total?: number;
  };
  readonly data: Record<string, unknown>;
}

/** The response of the control interface. */
export interface ControlAnswer {
  readonly status: number;
  readonly data: Record<string, unknown>;
}

export interface Sent {
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  readonly body?: Dispatcher.DispatchOptions['body'] | object;
}

/** The test's own service, and a way to call it. */
export class Bench {
  readonly service: RunningService;
  readonly #agent = new Agent({ pipelining: 1 });

  constructor(service: RunningService) {
    this.service = service;
  }

  get origin(): string {
    return new URL(this.service.url).origin;
  }

  /**
   * Calls the service, by default as Acme's admin. A plain object is sent as JSON. Compares every response with its
   * declaration.
   */
  async call(method: string, path: string, { key = keys.acmeAdmin, headers = {}, body }: Sent = {}): Promise<Answer> {
    const url = path.startsWith('/api') ? this.origin + path : this.service.url + path;
    const plain = typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype;
    const answer = await request(url, {
      dispatcher: this.#agent,
      method: method as Dispatcher.HttpMethod,
      headers: {
        ...(key === null ? {} : { 'kf-api-key': key }),
        ...(plain ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      body: (plain ? JSON.stringify(body) : (body ?? null)) as Dispatcher.DispatchOptions['body'] & string,
    });
    const text = await answer.body.text();
    expect(answerFaults({ method, path, status: answer.statusCode, text }), `${method} ${path}: ${text}`).toEqual([]);
    const body_ = text.startsWith('{"meta"') ? (JSON.parse(text) as Envelope) : (undefined as unknown as Envelope);
    return { status: answer.statusCode, headers: answer.headers, text, body: body_ };
  }

  /** Calls the control interface of a service that was started with one. A string is sent unchanged. */
  async control(method: string, path: string, body?: object | string): Promise<ControlAnswer> {
    const { url, token } = this.service.control!;
    const answer = await request(url + path, {
      dispatcher: this.#agent,
      method: method as Dispatcher.HttpMethod,
      headers: { authorization: `Bearer ${token}` },
      body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
    });
    return { status: answer.statusCode, data: (await answer.body.json()) as Record<string, unknown> };
  }

  /** A new data source; its instance has the same ID. */
  async source(given: object = {}, sent: Sent = {}): Promise<string> {
    const answer = await this.call('POST', '/datasources', { ...sent, body: { name: 'Sales', ...given } });
    return answer.body.meta.location!.split('/').at(-1)!;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    await this.service.close();
  }
}

/**
 * At each start and each reset, the password is hashed, which takes longer than most tests; few of them sign in with
 * it.
 */
const withoutPassword = JSON.parse(
  JSON.stringify(fixtures, (name, value) => (name === 'password' ? undefined : value)),
) as object;

/**
 * Starts a service with the fixtures above except the password, by default in memory and without limits. It stops when
 * the test ends.
 */
export async function bench(options: Partial<ServiceOptions> & { given?: object } = {}): Promise<Bench> {
  const { given = withoutPassword, ...rest } = options;
  const started = await startBench(await scratch(), given, rest);
  onTestFinished(() => started.close());
  return started;
}

/**
 * One service for all tests in a file, reset before each test, because starting a service takes longer than most tests.
 */
export function sharedBench(): () => Bench {
  let folder: string;
  let shared: Bench;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-service-'));
    shared = await startBench(folder, withoutPassword, { control: {} });
  });
  beforeEach(async () => {
    expect(await shared.control('POST', '/reset')).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    await shared.close();
    await rm(folder, { recursive: true, force: true });
  });
  return () => shared;
}

async function startBench(folder: string, given: object, options: Partial<ServiceOptions>): Promise<Bench> {
  const file = join(folder, 'fixtures.json');
  await writeFile(file, JSON.stringify(given));
  return new Bench(await startService({ data: 'memory', limits: false, fixtures: file, ...options }));
}
