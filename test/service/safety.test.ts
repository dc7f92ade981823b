import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startService } from '../../src/service/service.ts';
import fc from '../property.ts';
import { collectCases } from './case.ts';
import { type Answer, Bench, bench, fixtures, keys, scratch } from './service.ts';

/** The content of all files in a folder. */
async function bytesIn(folder: string): Promise<Map<string, Buffer>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path, await readFile(path)] as const;
  });
  return new Map(await Promise.all(read));
}

/** The encodings in which a secret could appear. */
function spellings(secret: string): Buffer[] {
  const clear = Buffer.from(secret);
  const texts = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), clear.toString('hex')];
  const coded = [clear.toString('base64').replace(/=+$/, ''), clear.toString('base64url')];
  const raw = /^[0-9a-f]{40}$/.test(secret) ? [Buffer.from(secret, 'hex')] : [];
  return [...[...texts, ...coded].map((text) => Buffer.from(text)), Buffer.from(secret, 'utf16le'), ...raw];
}

describe('keys and passwords', () => {
  it("never appear in the service's files, logs or responses, however they're sent", async () => {
    const folder = await scratch();
    const lines: string[] = [];
    const note = (message: string, facts: object = {}): void => void lines.push(JSON.stringify([message, facts]));
    const log = { debug: note, info: note, warn: note, error: note, with: () => log };
    const requestLogFile = join(folder, 'requests.jsonl');
    const given = await bench({ given: fixtures, data: { folder: join(folder, 'data') }, log, requestLogFile });
    const secrets = {
      ...keys,
      fixture: 'correct horse',
      user: 'řeřicha-po-dešti-42',
      changed: 'druhé-heslo-po-dešti-43',
      link: 'link-password-44-abc',
      wrong: 'no-such-password-45-abc',
    };
    const answers: Answer[] = [];
    const call = async (...sent: Parameters<Bench['call']>): Promise<Answer> => {
      const answer = await given.call(...sent);
      answers.push(answer);
      return answer;
    };
    const basic = (password: string) => ({
      key: null,
      headers: { authorization: `Basic ${Buffer.from(`new@acme.test:${password}`).toString('base64')}` },
    });
    const { location } = (await call('POST', '/users', { body: { email: 'new@acme.test', password: secrets.user } }))
      .body.meta;
    expect((await call('GET', '/profile', basic(secrets.user))).status).toBe(200);
    await call('PUT', location!, { body: { password: secrets.changed } });
    expect((await call('GET', '/profile', basic(secrets.changed))).status).toBe(200);
    expect((await call('GET', '/profile', basic(secrets.wrong))).status).toBe(401);
    await call('GET', `${location}?full=true`);
    const tab = (await call('POST', '/tabs', { body: { name: 'T' } })).body.meta.location!.split('/').at(-1);
    const link = { name: 'L', password: secrets.link };
    const made = await call('POST', `/dashboard-published-links/${tab}`, { body: link });
    const page = `http://${made.body.data.dashboard_url as string}`;
    expect((await fetch(`${page}?password=${secrets.link}`)).status).toBe(200);
    expect((await fetch(`${page}?password=${secrets.wrong}`)).status).toBe(401);
    for (const path of ['/users', `/dashboard-published-links?dashboard_id=${tab}`, '/nothing'])
      await call('GET', path);
    const whileRunning = await bytesIn(folder);
    await given.close();
    const files = [...whileRunning, ...(await bytesIn(folder))].filter(([path]) => !path.includes('fixtures'));
    expect(files.length).toBeGreaterThan(3);
    const said = Buffer.from(
      lines.join('\n') + answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n'),
    );
    for (const [name, secret] of Object.entries(secrets)) {
      for (const spelling of spellings(secret)) {
        const holding = [...files, ['log or answer', said] as const].filter(([, bytes]) => bytes.includes(spelling));
        expect([name, holding.map(([path]) => path)]).toEqual([name, []]);
      }
    }
  });

  it("created at the first start never appear in the service's files either", async () => {
    const folder = await scratch();
    const service = new Bench(await startService({ data: { folder }, limits: false }));
    const key = service.service.firstKey!;
    await service.call('GET', '/profile', { key });
    await service.close();
    for (const [path, bytes] of await bytesIn(folder)) {
      for (const spelling of spellings(key)) expect([path, bytes.includes(spelling)]).toEqual([path, false]);
    }
  });
});

/** A value as JSON in which every object also has these members. */
function withMembers(value: unknown, names: readonly string[]): string {
  if (Array.isArray(value)) return `[${value.map((item) => withMembers(item, names)).join(',')}]`;
  if (!isPlain(value)) return JSON.stringify(value);
  const added = names.map((name) => `${JSON.stringify(name)}:"poisoned"`);
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${withMembers(inner, names)}`);
  return `{${[...added, ...members].join(',')}}`;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const withBodies = Object.entries(await collectCases()).filter(
  ([, one]) => one.bodyWith !== undefined || isPlain(one.body),
);

describe('members named like members of a prototype', () => {
  it.each(withBodies)('in the body of %s at any depth reach no prototype', async (title, one) => {
    const given = await bench();
    const [method, path] = title.split(' ') as [string, string];
    const params = (await one.prepare?.(given)) ?? {};
    const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name]!);
    const call = (names: readonly string[]) =>
      given.call(method, one.query === undefined ? address : `${address}?${one.query}`, {
        body: withMembers(one.bodyWith?.(params) ?? one.body, names),
      });
    expect((await call(['__proto__'])).body.meta.error_desc).toBe('A member named "__proto__" is not supported');
    const { status, body } = await call(['constructor', 'prototype']);
    // The names in this body are IDs of instances.
    if (title === 'PUT /tabs/{id}/layout') expect([status, body.meta.error_code]).toEqual([400, 'bad_request']);
    else expect([status, body.meta.error_desc]).toEqual([expect.toSatisfy((code: number) => code < 300), undefined]);
    expect(({} as { prototype?: unknown }).prototype).toBe(undefined);
    expect({}.constructor).toBe(Object);
  });
});

describe('any Unicode text', () => {
  const wild = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
        fc.constantFrom(
          '\u0000',
          '\ufeff',
          '\u2028',
          '\u202e',
          '\uffff',
          '\u{10ffff}',
          'e\u0301',
          '\u00e9',
          '👩‍👩‍👧',
          "';--",
          '\u200d',
          '%00',
          '{props.x}',
        ),
      ),
      { minLength: 1, maxLength: 6 },
    )
    .map((parts) => `x${parts.join('')}`);

  it('is returned unchanged in every kind of name and text, even after a restart', async () => {
    const folder = await scratch();
    const fixturesFile = join(folder, 'fixtures.json');
    await writeFile(fixturesFile, JSON.stringify(fixtures));
    const open = async (): Promise<Bench> =>
      new Bench(await startService({ data: { folder: join(folder, 'data') }, limits: false, fixtures: fixturesFile }));
    const given = await open();
    const texts = fc.sample(wild, { numRuns: 40, seed: 7 });
    const idOf = (answer: Answer): string => answer.body.meta.location!.split('/').at(-1)!;
    const expected = new Map<string, Record<string, unknown>>();
    const make = async (list: string, body: Record<string, unknown>): Promise<string> => {
      const answer = await given.call('POST', list, { body });
      expect([list, body, answer.status]).toEqual([list, body, 201]);
      const { location } = answer.body.meta;
      expected.set(
        location!,
        Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'properties' && name !== 'permissions')),
      );
      return idOf(answer);
    };
    for (const [i, text] of texts.entries()) {
      const both = { name: text, description: text };
      for (const list of ['/klips', '/tabs', '/groups', '/clients']) await make(list, both);
      await make('/roles', { ...both, permissions: [] });
      await make('/users', { email: `u${i}@acme.test`, first_name: text, last_name: text });
      const source = await make('/datasources', { ...both, properties: { [text]: { [text]: [text] } } });
      expected.set(`/datasources/${source}/properties`, { properties: { [text]: { [text]: [text] } } });
      await given.call('PUT', '/users/acme-viewer/properties', { body: { properties: { [text]: text } } });
    }
    const values = Object.fromEntries(texts.map((text) => [text, text]));
    expected.set('/users/acme-viewer/properties', { properties: values });
    const check = async (from: Bench): Promise<void> => {
      for (const [path, fields] of expected) expect((await from.call('GET', path)).body.data).toMatchObject(fields);
    };
    await check(given);
    await given.close();
    const again = await open();
    await check(again);
    for (const text of texts) {
      const gone = await again.call('DELETE', `/users/acme-viewer/properties?name=${encodeURIComponent(text)}`);
      expect([text, gone.status]).toEqual([text, 200]);
    }
    await again.close();
  });
});
