import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import { Database } from '../../src/service/store/database.ts';
import { SteppingClock } from '../clocks.ts';
import { collectCases } from './case.ts';
import { type Answer, type Bench, bench, keys } from './service.ts';

const cases = await collectCases();
const lists = (await collectResources())
  .flatMap(({ endpoints }) => endpoints)
  .filter(({ method, query }) => method === 'GET' && 'limit' in query);

interface Step {
  /** A step in SQLite's query plan: SEARCH uses an index, SCAN reads everything, TEMP B-TREE sorts the result. */
  readonly detail: string;
  readonly sql: string;
}

/** Collects the query plan of every SQLite query after this. */
function watchPlans(): Step[] {
  const steps: Step[] = [];
  const { all } = Database.prototype;
  for (const name of ['get', 'all'] as const) {
    const original = Database.prototype[name] as typeof all;
    const spy = vi.spyOn(Database.prototype, name).mockImplementation(function (this: Database, sql, ...values) {
      const plan = all.call(this, `explain query plan ${sql}`, ...values) as { detail: string }[];
      steps.push(...plan.map(({ detail }) => ({ detail, sql: sql.replace(/\s+/g, ' ') })));
      return original.call(this, sql, ...values) as never;
    });
    onTestFinished(() => spy.mockRestore());
  }
  return steps;
}

async function addressOf(given: Bench, { path }: Endpoint): Promise<string> {
  const { prepare, query } = cases[`GET ${path}`] ?? {};
  const ids: Record<string, string> = path.startsWith('/datasources/') ? { id: await given.source() } : {};
  const params = { ...ids, ...(await prepare?.(given)) };
  const address = query === undefined ? path : `${path}?${query}`;
  return address.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'none');
}

/** These scans are allowed, because a subquery contains only what an index has found. */
const withinQuery = /^SCAN (page$|\(subquery-\d+\)$|CONSTANT ROW)/;

/** Lists that must be sorted as a whole before a page is taken, and why that is acceptable. */
const sorted: Record<string, string> = {
  '/groups/{id}/users': 'the members of one group',
  '/users/{id}/groups': 'the groups of one user',
  '/klips/{id}/client-instances': 'the copies of one Klip',
  '/usage-details/published-link-views': 'the most viewed first, of one account',
};

describe.each(lists.map((list) => [list.path, list] as const))('GET %s', (path, list) => {
  it("never scans a table for any user, even with another company's rows in between", async () => {
    const given = await bench();
    await given.source({}, { key: keys.otherAdmin });
    const address = await addressOf(given, list);
    const steps = watchPlans();
    expect((await given.call('GET', address)).status).toBe(200);
    for (const key of [keys.acmeReporter, keys.acmeViewer]) await given.call('GET', address, { key });
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.filter(({ detail }) => detail.startsWith('SCAN') && !withinQuery.test(detail))).toEqual([]);
    const sorts = steps.filter(({ detail }) => detail === 'USE TEMP B-TREE FOR ORDER BY');
    expect(sorts.length > 0, JSON.stringify(sorts)).toBe(path in sorted);
  });
});

describe('an item that a user can see for several reasons', () => {
  const names = (answer: Answer, list: string): string[] =>
    (answer.body.data[list] as { name?: string; datasource_name?: string }[]).map(
      (item) => item.name ?? item.datasource_name!,
    );

  it("appears once in the user's lists, in creation order, and counts only once in each page's total", async () => {
    const clock = new SteppingClock('2026-03-02T17:00:00Z');
    const given = await bench({ clock });
    const asEditor = { key: keys.acmeEditor };
    await given.call('PUT', '/groups/acme-team/users/acme-editor');
    // While this user creates some of the items, they are an Editor, who can see everything.
    const { roles } = (await given.call('GET', '/roles')).body.data as { roles: { id: string; name: string }[] };
    const viewOnly = roles.find(({ name }) => name === 'View-Only')!;
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) {
      clock.advance(1000);
      ids.push(await given.source({ name: `S${i}` }, i % 4 === 0 ? asEditor : {}));
    }
    await given.call('PUT', `/users/acme-editor/roles/${viewOnly.id}`);
    const share = (i: number, body: object) =>
      given.call('PUT', `/datasources/${ids[i]}/share-rights`, { body: { groups: [], ...body } });
    await share(1, { users: [{ user_id: 'acme-editor' }], groups: [{ group_id: 'acme-team' }] });
    await share(3, { groups: [{ group_id: 'acme-team', can_edit: true }] });
    await share(4, { groups: [{ group_id: 'acme-team' }] });
    await share(5, { users: [{ user_id: 'acme-viewer' }] });
    for (const list of ['datasources', 'datasource-instances']) {
      for (let offset = 0; offset < 6; offset++) {
        const answer = await given.call('GET', `/${list}?limit=2&offset=${offset}`, asEditor);
        expect(answer.body.meta).toMatchObject({ total: 4 });
        expect(names(answer, 'datasources')).toEqual(['S0', 'S1', 'S3', 'S4'].slice(offset, offset + 2));
      }
    }
    await given.call('DELETE', `/datasources/${ids[1]}/share-rights/acme-team`);
    await given.call('DELETE', '/groups/acme-team/users/acme-editor');
    const left = await given.call('GET', '/datasources', asEditor);
    expect([names(left, 'datasources'), left.body.meta.total]).toEqual([['S0', 'S1', 'S4'], 3]);
  });

  it('is found for a user in more groups than one query can contain', async () => {
    const given = await bench();
    const id = await given.source();
    for (let i = 0; i < 60; i++) {
      const made = await given.call('POST', '/groups', { body: { name: `G${i}` } });
      const group = made.body.meta.location!.split('/').at(-1)!;
      await given.call('PUT', `/groups/${group}/users/acme-viewer`);
      if (i > 57)
        await given.call('PUT', `/datasources/${id}/share-rights`, { body: { groups: [{ group_id: group }] } });
    }
    const answer = await given.call('GET', '/datasources', { key: keys.acmeViewer });
    expect(answer.body.meta).toMatchObject({ count: 1, total: 1 });
  });
});
