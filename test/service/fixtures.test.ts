import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFixtures } from '../../src/service/fixtures/read.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, fixtures, keys, scratch } from './service.ts';

async function fileOf(text: string): Promise<string> {
  const file = join(await scratch(), 'fixtures.yaml');
  await writeFile(file, text);
  return file;
}

/** A file's errors, as `line: message`. */
async function faultsOf(text: string): Promise<string[]> {
  const thrown = await readFixtures(await fileOf(text)).then(
    () => undefined,
    (problem: {
      cause?: { errors?: { where: { line: number }; message: string }[] };
      where: { line: number };
      message: string;
    }) => problem,
  );
  if (thrown === undefined) return [];
  return (thrown.cause?.errors ?? [thrown]).map(({ where, message }) => `${where.line}: ${message}`);
}

describe('a fixtures file', () => {
  it('reports all errors at once, each with its line', async () => {
    const text = `companies:
  - name: Acme
    plan: huge
    request_per_day: 5
    requests_per_second: 0
    roles:
      - {name: R, permissions: [datasource.creat]}
    users:
      - email: not an address
        role: Admin
        api_keys: [short]
      - first_name: 5
    clients: none
  - plan: grow
extra: 1
`;
    expect(await faultsOf(text)).toEqual([
      '3: companies.1.plan is not valid',
      '4: unknown key request_per_day',
      '5: companies.1.requests_per_second is not valid',
      '7: companies.1.roles.1.permissions.1 is not valid',
      '9: companies.1.users.1.email is not valid',
      '11: companies.1.users.1.api_keys.1 is not valid',
      '12: companies.1.users.2.first_name is not valid',
      '12: companies.1.users.2 has no email',
      '12: companies.1.users.2 has no role',
      '13: companies.1.clients is not valid',
      '14: companies.2 has no name',
      '15: unknown key extra',
    ]);
  });

  it('rejects IDs in capitals that look like generated ones, because these are found in any case', async () => {
    const faultsWith = (id: string) => faultsOf(`companies: [{id: ${id}, name: Acme, plan: team}]`);
    expect(await faultsWith('0123456789ABCDEF0123456789abcdef')).toEqual(['1: companies.1.id is not valid']);
    expect(await faultsWith('ABCDEF')).toEqual([]);
  });

  it('reports duplicates and references to missing items', async () => {
    const text = `companies:
  - id: a
    name: Acme
    plan: grow
    roles: [{name: Admin, permissions: []}]
    users:
      - {email: a@x.test, role: Admn, api_keys: [aaaaaaaaaa]}
      - {email: A@X.test, role: Editor, api_keys: [aaaaaaaaaa]}
    groups:
      - {name: G, members: [a@x.test, b@x.test]}
      - {name: G}
    clients: [{id: a, name: C}]
  - {name: Acme, plan: team}
`;
    expect(await faultsOf(text)).toEqual([
      '5: the Admin role is built in',
      '7: this account has no role Admn',
      '8: user a@x.test appears twice',
      '8: this api key appears twice',
      '10: this account has no user b@x.test',
      '11: group in companies.1 G appears twice',
      '12: id a appears twice',
      '13: company Acme appears twice',
    ]);
  });

  it("that isn't YAML, is empty or doesn't exist causes one error with the file's name", async () => {
    expect((await faultsOf('companies: [}'))[0]).toMatch(/^1: /);
    expect(await faultsOf('')).toHaveLength(1);
    expect(await faultsOf('companies:\n  - {name: A, name: B, plan: grow}')).toEqual([expect.stringContaining('2: ')]);
    await expect(readFixtures('/nowhere/x.yaml')).rejects.toMatchObject({
      code: 'SERVICE_FIXTURES',
      where: { file: '/nowhere/x.yaml' },
    });
  });

  it('with typos causes errors that suggest a fix and never contain a key', async () => {
    const file = await fileOf(
      'companies:\n  - {name: A, plan: growth, users: [{email: a@b.c, role: Admin, api_keys: ["has spaces in it"]}]}\n',
    );
    const problem = (await readFixtures(file).catch((thrown: Error) => thrown)) as Error;
    expect(problem.message).toContain('write grow');
    expect(problem.message).not.toContain('has spaces');
  });

  it("changes nothing if it's loaded again, and its edits apply if it was edited", async () => {
    const folder = await scratch();
    const file = await fileOf(JSON.stringify(fixtures));
    const start = async (): Promise<Bench> => {
      const started = new Bench(await startService({ data: { folder }, fixtures: file, limits: false }));
      onTestFinished(() => started.close());
      return started;
    };
    const first = await start();
    expect(first.service.firstKey).toBe(undefined);
    const before = await first.call('GET', '/profile?full=true', { key: keys.acmeViewer });
    const id = await first.source({}, { key: keys.acmeEditor });
    await first.close();
    const second = await start();
    expect((await second.call('GET', '/profile?full=true', { key: keys.acmeViewer })).body).toEqual(before.body);
    expect((await second.call('GET', `/datasources/${id}`, { key: keys.acmeEditor })).status).toBe(200);
    const basic = { key: null, headers: { authorization: `Basic ${btoa('admin@acme.test:correct horse')}` } };
    expect((await second.call('GET', '/profile', basic)).status).toBe(200);
    await second.close();
    const [acme, other] = fixtures.companies;
    const users = acme!.users.map((user) =>
      user.id === 'acme-viewer' ? { ...user, role: 'Editor', password: 'a new one' } : user,
    );
    await writeFile(file, JSON.stringify({ companies: [{ ...acme!, plan: 'team', users }, other] }));
    const third = await start();
    expect((await third.call('POST', '/datasources', { key: keys.acmeViewer, body: { name: 'A' } })).status).toBe(201);
    const usage = await third.call('GET', '/usage-overview/api-usage?start_date=0&end_date=4000000000');
    expect(usage.body.data.overview).toMatchObject([{ api_limit: '5000' }]);
    const changed = { key: null, headers: { authorization: `Basic ${btoa('vi@acme.test:a new one')}` } };
    expect((await third.call('GET', '/profile', changed)).status).toBe(200);
  });

  it('without IDs is matched to existing users and accounts by name', async () => {
    const folder = await scratch();
    const key = 'dd'.repeat(20);
    const file = await fileOf(`companies:
  - {name: A, plan: grow, users: [{email: a@a.test, role: Admin, api_keys: [${key}]}], groups: [{name: G, members: [A@a.test]}], clients: [{name: C}]}
`);
    const profiles: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const started = new Bench(await startService({ data: { folder }, fixtures: file }));
      profiles.push((await started.call('GET', '/profile?full=true', { key })).body);
      await started.close();
    }
    expect(profiles[0]).toEqual(profiles[1]);
    expect(profiles[0]).toMatchObject({ data: { groups: [{ name: 'G' }] } });
  });

  it("can set a role's ID, so that the role is found even after it's renamed", async () => {
    const folder = await scratch();
    const key = 'ee'.repeat(20);
    const load = async (name: string): Promise<Bench> => {
      const roles = `[{id: pusher, name: ${name}, permissions: [user.manage]}]`;
      const users = `[{email: a@a.test, role: ${name}, api_keys: [${key}]}]`;
      const file = await fileOf(`companies: [{id: a, name: A, plan: grow, roles: ${roles}, users: ${users}}]`);
      const started = new Bench(await startService({ data: { folder }, fixtures: file }));
      onTestFinished(() => started.close());
      return started;
    };
    await (await load('Pusher')).close();
    const { body } = await (await load('Shover')).call('GET', '/roles/pusher', { key });
    expect(body.data).toMatchObject({ id: 'pusher', name: 'Shover', company: 'A' });
  });

  it("matches an email address with non-ASCII capitals when it's loaded again", async () => {
    const folder = await scratch();
    const key = 'ab'.repeat(20);
    const user = `{email: Ümit@a.test, role: Admin, api_keys: [${key}]}`;
    const file = await fileOf(`companies: [{id: a, name: A, plan: team, users: [${user}]}]`);
    await (await startService({ data: { folder }, fixtures: file })).close();
    const again = new Bench(await startService({ data: { folder }, fixtures: file }));
    onTestFinished(() => again.close());
    expect((await again.call('GET', '/users', { key })).body.meta.total).toBe(1);
  });

  it('that conflicts with the data folder is rejected as a whole', async () => {
    const folder = await scratch();
    const file = await fileOf(JSON.stringify(fixtures));
    const first = new Bench(await startService({ data: { folder }, fixtures: file }));
    const { id: builtIn } = (await first.call('GET', '/users/acme-admin/roles')).body.data as { id: string };
    await first.close();
    const stolen = [
      `{name: New, plan: grow, users: [{email: admin@acme.test, role: Admin}]}`,
      `{name: New, plan: grow, users: [{email: x@new.test, role: Admin, api_keys: [${keys.acmeAdmin}]}]}`,
      `{id: acme, name: Acme, plan: grow, users: [{id: fresh, email: admin@acme.test, role: Admin}]}`,
      `{name: New, plan: grow, groups: [{id: acme-team, name: Mine, members: []}]}`,
      `{name: New, plan: grow, clients: [{id: bakery, name: Mine}]}`,
      `{name: New, plan: grow, roles: [{id: ${builtIn}, name: Mine, permissions: []}]}`,
      `{id: acme, name: Acme, plan: grow, roles: [{id: ${builtIn}, name: Mine, permissions: []}]}`,
      `{id: bakery, name: New, plan: grow}`,
    ];
    for (const company of stolen) {
      await writeFile(file, `companies:\n  - ${company}\n`);
      await expect(startService({ data: { folder }, fixtures: file })).rejects.toMatchObject({
        code: 'SERVICE_FIXTURES_CONFLICT',
        family: 'config',
      });
    }
    const service = new Bench(await startService({ data: { folder } }));
    onTestFinished(() => service.close());
    expect((await service.call('GET', '/profile')).body.data).toMatchObject({
      id: 'acme-admin',
      company: { name: 'Acme' },
    });
  });
});
