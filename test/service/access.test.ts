import { describe, expect, it } from 'vitest';
import { type Answer, bench, fixtures, keys } from './service.ts';

const ids = (answer: Answer): string[] => (answer.body.data.datasources as { id: string }[]).map(({ id }) => id);
const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];

describe('two companies', () => {
  it("never see, change or find each other's data sources", async () => {
    const given = await bench();
    const ours = await given.source();
    const theirs = await given.source({}, { key: keys.otherAdmin });
    expect(ids(await given.call('GET', '/datasources'))).toEqual([ours]);
    expect(ids(await given.call('GET', '/datasource-instances', { key: keys.otherAdmin }))).toEqual([theirs]);
    const calls: [string, string, object?][] = [
      ['GET', `/datasources/${theirs}`],
      ['PUT', `/datasources/${theirs}`, { name: 'mine now' }],
      ['DELETE', `/datasources/${theirs}`],
      ['POST', `/datasources/${theirs}/@/disable`],
      ['GET', `/datasource-instances/${theirs}`],
      ['GET', `/datasource-instances/${theirs}/data`],
      ['PUT', `/datasource-instances/${theirs}/data`, [1] as object],
      ['GET', `/datasource-instances/${theirs}/properties`],
      ['PUT', `/datasource-instances/${theirs}/properties`, { properties: {} }],
      ['POST', `/datasource-instances/${theirs}/@/refresh`],
      ['GET', `/datasource-instances?datasource_id=${theirs}`],
    ];
    for (const [method, path, body] of calls) {
      const answer = await given.call(method, path, { body: JSON.stringify(body ?? {}) });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect((await given.call('GET', `/datasources/${theirs}`, { key: keys.otherAdmin })).body.data).toMatchObject({
      name: 'Sales',
      disabled: false,
    });
  });

  it("get 401, not 404, for the share rights of each other's data sources", async () => {
    const given = await bench();
    const theirs = await given.source({}, { key: keys.otherAdmin });
    expect(errorOf(await given.call('GET', `/datasources/${theirs}/share-rights`))).toEqual([401, 'permission_denied']);
    expect(errorOf(await given.call('PUT', `/datasources/${theirs}/share-rights`, { body: { groups: [] } }))).toEqual([
      401,
      'permission_denied',
    ]);
    expect(errorOf(await given.call('DELETE', `/datasources/${theirs}/share-rights/acme-team`))).toEqual([
      401,
      'permission_denied',
    ]);
  });
});

describe('a client account', () => {
  it('is selected by client_id in the query or in the body, and is isolated from other accounts', async () => {
    const given = await bench();
    const inQuery = await given.call('POST', '/datasources?client_id=bakery', { body: { name: 'Rolls' } });
    const inBody = await given.call('POST', '/datasources', { body: { name: 'Bread', client_id: 'bakery' } });
    expect([inQuery.status, inBody.status]).toEqual([201, 201]);
    expect(ids(await given.call('GET', '/datasources'))).toEqual([]);
    expect(ids(await given.call('GET', '/datasources?client_id=bakery'))).toHaveLength(2);
    expect(ids(await given.call('GET', '/datasources', { key: keys.clientAdmin }))).toHaveLength(2);
    const id = inBody.body.meta.location!.split('/')[2]!;
    expect((await given.call('GET', `/datasources/${id}`)).status).toBe(404);
    expect((await given.call('GET', `/datasources/${id}?client_id=bakery`)).body.data.company).toBe('Bakery');
    const own = await given.source();
    expect((await given.call('GET', `/datasources/${own}?client_id=bakery`)).status).toBe(404);
  });

  it('accepts data pushed for the client, and treats members named client_id as data', async () => {
    const given = await bench();
    const id = await given.source({ client_id: 'bakery' });
    const body = '{"client_id": "cafe"}';
    expect((await given.call('PUT', `/datasource-instances/${id}/data`, { body })).status).toBe(404);
    expect((await given.call('PUT', `/datasource-instances/${id}/data?client_id=bakery`, { body })).status).toBe(200);
    expect((await given.call('GET', `/datasource-instances/${id}/data?raw=true&client_id=bakery`)).text).toBe(body);
  });

  it("can't be selected if the query and the body have different values of client_id", async () => {
    const given = await bench();
    const answer = await given.call('POST', '/datasources?client_id=bakery', {
      body: { name: 'A', client_id: 'cafe' },
    });
    expect(errorOf(answer)).toEqual([400, 'bad_request']);
    expect((await given.call('POST', '/datasources', { body: { name: 'A', client_id: 7 } })).status).toBe(400);
  });

  it('appears in reports requested by company_id only for its own company', async () => {
    const given = await bench();
    await given.call('GET', '/profile', { key: keys.clientAdmin });
    const report = (company: string, key: string = keys.acmeAdmin): Promise<Answer> =>
      given.call('GET', `/usage-overview/api-usage?start_date=0&end_date=4000000000&company_id=${company}`, { key });
    expect((await report('bakery')).body.data.overview).toMatchObject([{ api_usage: '1' }]);
    expect((await report('acme')).status).toBe(200);
    expect(errorOf(await report('other'))).toEqual([403, 'forbidden']);
    expect(errorOf(await report('cafe'))).toEqual([403, 'forbidden']);
    expect(errorOf(await report('unknown'))).toEqual([404, 'not_found']);
    expect(errorOf(await report('acme', keys.acmeReporter))).toEqual([403, 'forbidden']);
  });
});

describe('a data source', () => {
  it("is visible only to its creator, to the users and groups it's shared with, and to administrators", async () => {
    const given = await bench();
    const id = await given.source({}, { key: keys.acmeEditor });
    const seen = async (key: string): Promise<boolean[]> => [
      ids(await given.call('GET', '/datasources', { key })).includes(id),
      (await given.call('GET', `/datasources/${id}`, { key })).status === 200,
      (await given.call('GET', `/datasource-instances/${id}`, { key })).status === 200,
    ];
    const yes = [true, true, true];
    const no = [false, false, false];
    expect(await seen(keys.acmeEditor)).toEqual(yes);
    expect(await seen(keys.acmeAdmin)).toEqual(yes);
    expect(await seen(keys.acmeViewer)).toEqual(no);
    expect(errorOf(await given.call('GET', `/datasources/${id}/share-rights`, { key: keys.acmeViewer }))).toEqual([
      401,
      'permission_denied',
    ]);
    const shareRights = `/datasources/${id}/share-rights`;
    expect((await given.call('PUT', shareRights, { body: { groups: [{ group_id: 'acme-team' }] } })).status).toBe(200);
    expect(await seen(keys.acmeViewer)).toEqual(yes);
    expect(await seen(keys.acmeReporter)).toEqual(no);
    await given.call('PUT', shareRights, { body: { groups: [], users: [{ user_id: 'acme-reporter' }] } });
    expect(await seen(keys.acmeReporter)).toEqual(yes);
    await given.call('DELETE', `${shareRights}/acme-team`);
    expect(await seen(keys.acmeViewer)).toEqual(no);
  });

  it("that is shared for viewing can't be changed without can_edit", async () => {
    const given = await bench();
    const id = await given.source();
    const push = (): Promise<Answer> =>
      given.call('PUT', `/datasource-instances/${id}/data`, { key: keys.acmeViewer, body: '[1]' });
    const share = (can_edit: boolean): Promise<Answer> =>
      given.call('PUT', `/datasources/${id}/share-rights`, { body: { groups: [{ group_id: 'acme-team', can_edit }] } });
    expect((await push()).status).toBe(404);
    await share(false);
    expect(errorOf(await push())).toEqual([403, 'forbidden']);
    await share(true);
    expect((await push()).status).toBe(200);
  });

  it('is shared with all recipients in a request, or with none', async () => {
    const given = await bench();
    const id = await given.source();
    const path = `/datasources/${id}/share-rights`;
    const share = (body: object): Promise<Answer> => given.call('PUT', path, { body });
    const team = { group_id: 'acme-team', can_edit: true };
    expect((await share({ groups: [team, { group_id: 'unknown' }] })).status).toBe(404);
    expect((await share({ groups: [team, { group_id: 'other-team' }] })).status).toBe(403);
    expect((await share({ groups: [team, { group_id: 'bakery-team' }] })).status).toBe(403);
    expect((await share({ groups: [team], users: [{ user_id: 'other-admin' }] })).status).toBe(403);
    expect((await share({ groups: [team], users: [{ user_id: 'unknown' }] })).status).toBe(404);
    expect((await given.call('GET', path)).body.data).toEqual({ share_rights: [], user_share_rights: [] });
    expect((await share({ groups: [team], users: [{ user_id: 'acme-editor', can_edit: false }] })).body.data).toEqual(
      {},
    );
    expect((await given.call('GET', path)).body.data).toEqual({
      share_rights: [{ group_id: 'acme-team', group_name: 'Team', can_edit: true }],
      user_share_rights: [{ user_id: 'acme-editor', first_name: 'Ed', last_name: 'It', can_edit: false }],
    });
    expect((await given.call('DELETE', `${path}/acme-editor`)).status).toBe(404);
    expect((await given.call('DELETE', `${path}/acme-editor?type=user`)).status).toBe(200);
    expect((await given.call('DELETE', `${path}/acme-editor?type=user`)).status).toBe(403);
    expect((await given.call('DELETE', `${path}/bakery-team`)).status).toBe(403);
    expect((await given.call('DELETE', `${path}/unknown`)).status).toBe(404);
    expect((await given.call('DELETE', `${path}/`)).status).toBe(400);
  });

  it('is deleted with its instance, its data and its shares', async () => {
    const given = await bench();
    const id = await given.source();
    await given.call('PUT', `/datasource-instances/${id}/data`, { body: '[1]' });
    expect((await given.call('DELETE', `/datasources/${id}`)).body).toEqual({
      meta: { success: true, status: 200 },
      data: {},
    });
    for (const path of [`/datasources/${id}`, `/datasource-instances/${id}`, `/datasource-instances/${id}/data`]) {
      expect((await given.call('GET', path)).status).toBe(404);
    }
  });

  it('has the values it was created with, and an update changes only the fields that it names', async () => {
    const given = await bench();
    const id = await given.source({
      name: 'A',
      description: 'of it',
      format: 'xml',
      connector: 'SEARCHMETRICS',
      refresh_interval: 3600,
    });
    await given.call('PUT', `/datasources/${id}`, { body: { name: 'B', description: null, format: 'csv' } });
    const { date_created: created } = (await given.call('GET', `/datasources/${id}`)).body.data;
    expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await given.call('GET', `/datasources/${id}`)).body.data).toEqual({
      id,
      name: 'B',
      description: 'of it',
      refresh_interval: 3600,
      date_last_refresh: created,
      is_dynamic: false,
      company: 'Acme',
      connector: 'searchMetrics',
      format: 'xml',
      created_by: 'acme-admin',
      disabled: false,
      date_created: created,
    });
  });

  it('that refers to user properties is dynamic, and its instances have their own IDs', async () => {
    const given = await bench();
    const answer = await given.call('POST', '/datasources', {
      body: { name: 'Mine', properties: { endpoint_url: 'https://x.test/{props.region}', method: 'GET' } },
    });
    const [id, instance] = [
      answer.body.meta.location!.split('/')[2]!,
      answer.body.meta.instance_location!.split('/')[2]!,
    ];
    expect(instance).not.toBe(id);
    expect((await given.call('GET', `/datasources/${id}`)).body.data.is_dynamic).toBe(true);
    const { properties } = (await given.call('GET', `/datasource-instances/${instance}/properties`)).body.data;
    expect(properties).toEqual({ endpoint_url: 'https://x.test/', method: 'GET' });
    expect((await given.call('PUT', `/datasources/${id}/data`, { body: '[1]' })).status).toBe(400);
    expect((await given.call('PUT', `/datasource-instances/${instance}/data`, { body: '[1]' })).status).toBe(200);
  });
});

describe("a data source's properties", () => {
  it('may contain half a reference in one value, and braces in the next value', async () => {
    const given = await bench();
    const properties = { endpoint_url: '{props.region', method: 'get}', parameters: '[{"name":"{props.a"b}"}]' };
    const answer = await given.call('POST', '/datasources', { body: { name: 'Mine', properties } });
    expect(answer.status).toBe(201);
    const { instance_location } = answer.body.meta;
    expect((await given.call('GET', `${instance_location}/properties`)).body.data.properties).toEqual({
      ...properties,
      parameters: '[{"name":""}]',
    });
  });
});

describe('share rights', () => {
  it('treat a null can_edit as missing, and reject a null group', async () => {
    const given = await bench();
    const path = `/datasources/${await given.source()}/share-rights`;
    const put = (groups: unknown[]): Promise<Answer> => given.call('PUT', path, { body: { groups, users: null } });
    expect((await put([{ group_id: 'acme-team', can_edit: null, unknown: null }])).status).toBe(200);
    expect((await given.call('GET', path)).body.data.share_rights).toMatchObject([{ can_edit: false }]);
    expect((await put([null])).status).toBe(400);
    expect((await put([{ group_id: null }])).status).toBe(400);
  });
});

describe("an instance's properties", () => {
  it('are set individually, keep their JSON type, and are removed by name', async () => {
    const given = await bench();
    const id = await given.source({
      properties: { endpoint_url: 'https://a.test', method: 'get', parameters: '[{"name":"X"}]' },
    });
    const path = `/datasource-instances/${id}/properties`;
    await given.call('PUT', path, {
      body: { properties: { method: 'GET', retries: 3, 'Ünï code': true, toString: 'x', empty: '' } },
    });
    expect((await given.call('GET', path)).body.data.properties).toEqual({
      endpoint_url: 'https://a.test',
      method: 'GET',
      parameters: '[{"name":"X"}]',
      retries: 3,
      'Ünï code': true,
      toString: 'x',
      empty: '',
    });
    expect((await given.call('DELETE', `${path}?name=${encodeURIComponent('Ünï code')}`)).status).toBe(200);
    expect((await given.call('DELETE', `${path}?name=retries`)).status).toBe(200);
    expect((await given.call('DELETE', `${path}?name=retries`)).status).toBe(404);
    expect((await given.call('GET', path)).body.data.properties).not.toHaveProperty('retries');
  });

  it('can be named like members of a prototype, except __proto__', async () => {
    const given = await bench();
    const id = await given.source();
    const path = `/datasource-instances/${id}/properties`;
    const properties = { constructor: 'Ferrari', prototype: { constructor: 1 }, toString: 'x' };
    expect((await given.call('PUT', path, { body: { properties } })).status).toBe(200);
    expect((await given.call('GET', path)).body.data.properties).toEqual(properties);
    const before = (await given.call('GET', path)).text;
    for (const body of [
      '{"properties": {"__proto__": {"x": 1}}}',
      '{"properties": {"kept": {"\\u005f_proto__": {"y": 1}}}}',
      '{"properties": {}, "__proto__": {"properties": 1}}',
    ]) {
      const { status, body: answer } = await given.call('PUT', path, { body });
      expect([status, answer.meta.error_desc]).toEqual([400, 'A member named "__proto__" is not supported']);
    }
    expect((await given.call('GET', path)).text).toBe(before);
    expect(({} as { x?: number }).x).toBe(undefined);
  });
});

describe('lists', () => {
  it('have 25 items per page by default, in creation order, and a total count', async () => {
    const given = await bench();
    const all: string[] = [];
    for (let i = 0; i < 30; i++) all.push(await given.source({ name: `n${30 - i}` }));
    const page = async (query: string): Promise<unknown[]> => {
      const answer = await given.call('GET', `/datasources${query}`);
      return [answer.body.meta.count, answer.body.meta.total, ids(answer)];
    };
    expect((await page('?limit=100'))[1]).toBe(30);
    const ordered = (await page('?limit=100'))[2] as string[];
    expect(new Set(ordered)).toEqual(new Set(all));
    expect(await page('')).toEqual([25, 30, ordered.slice(0, 25)]);
    expect(await page('?offset=25')).toEqual([5, 30, ordered.slice(25)]);
    expect(await page('?offset=29&limit=1')).toEqual([1, 30, ordered.slice(29)]);
    expect(await page('?offset=30')).toEqual([0, 30, []]);
    expect(await page('?offset=99999999&limit=100')).toEqual([0, 30, []]);
    const instances = await given.call('GET', `/datasource-instances?offset=28&limit=2`);
    expect([instances.body.meta.count, instances.body.meta.total]).toEqual([2, 30]);
    const one = await given.call('GET', `/datasource-instances?datasource_id=${all[3]}`);
    expect([one.body.meta.total, ids(one)]).toEqual([1, [all[3]]]);
  });
});

describe('the authenticated user', () => {
  it('can use Basic credentials with the email address in any case, but an API key takes precedence', async () => {
    const given = await bench({ given: fixtures });
    const basic = (text: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(text).toString('base64')}`,
    });
    const profile = (key: string | null, headers: Record<string, string>): Promise<Answer> =>
      given.call('GET', '/profile', { key, headers });
    expect((await profile(null, basic('Admin@ACME.test:correct horse'))).body.data.id).toBe('acme-admin');
    for (const wrong of [
      'admin@acme.test:wrong',
      'admin@acme.test',
      'nobody@acme.test:correct horse',
      ':',
      'ed@acme.test:',
    ]) {
      expect(errorOf(await profile(null, basic(wrong)))).toEqual([401, 'auth_fail']);
    }
    expect((await profile(keys.otherAdmin, basic('admin@acme.test:correct horse'))).body.data.id).toBe('other-admin');
    expect(errorOf(await profile('wrong', basic('admin@acme.test:correct horse')))).toEqual([401, 'auth_fail']);
    expect(errorOf(await profile(null, { authorization: 'Bearer x' }))).toEqual([401, 'auth_fail']);
  });

  it("is returned by the profile call in full form, with groups and permissions, and the last login doesn't change", async () => {
    const given = await bench();
    const { data } = (await given.call('GET', '/profile?full=true', { key: keys.acmeViewer })).body;
    expect(data).toMatchObject({
      id: 'acme-viewer',
      company: { id: 'acme', name: 'Acme' },
      email: 'vi@acme.test',
      date_last_login: null,
      is_locked_out: false,
      groups: [{ id: 'acme-team', name: 'Team' }],
      permissions: ['dashboard.annotation.view', 'dashboard.library', 'dashboard.tab'],
    });
    expect((await given.call('GET', '/profile')).body.data).not.toHaveProperty('groups');
  });

  it("can do what the role allows: an editor can create items, but can't read reports or manage clients", async () => {
    const given = await bench({ given: fixtures });
    const sent = { key: keys.acmeEditor };
    expect((await given.call('POST', '/datasources', { ...sent, body: { name: 'A' } })).status).toBe(201);
    expect((await given.call('GET', '/usage-overview/api-usage?start_date=0&end_date=1', sent)).status).toBe(403);
    expect((await given.call('GET', '/datasources?client_id=bakery', sent)).status).toBe(401);
    expect((await given.call('POST', '/datasources', { key: keys.acmeViewer, body: { name: 'A' } })).status).toBe(401);
  });
});

// Some clients keep IDs in capitals.
it('generated IDs are found in any case of letters: in paths, queries and bodies', async () => {
  const given = await bench();
  const id = await given.source();
  const big = id.toUpperCase();
  expect((await given.call('GET', `/datasources/${big}`)).body.data.id).toBe(id);
  expect((await given.call('PUT', `/datasource-instances/${big}/data`, { body: '[1]' })).status).toBe(200);
  expect(ids(await given.call('GET', `/datasource-instances?datasource_id=${big}`))).toEqual([id]);
  const { body } = await given.call('POST', '/datasources/@/refresh', { body: { datasources: [id, big] } });
  expect(body.data).toMatchObject({ success: true, total_instances_requested: 1 });
  const made = await given.call('POST', '/groups', { body: { name: 'Sales' } });
  const group = made.body.meta.location!.split('/').at(-1)!;
  const share = { groups: [{ group_id: group.toUpperCase() }] };
  expect((await given.call('PUT', `/datasources/${id}/share-rights`, { body: share })).status).toBe(200);
  const { body: shared } = await given.call('GET', `/datasources/${id}/share-rights`);
  expect(shared.data.share_rights).toMatchObject([{ group_id: group }]);
  expect((await given.call('DELETE', `/datasources/${big}/share-rights/${group.toUpperCase()}`)).status).toBe(200);
  const klip = (await given.call('POST', '/klips', { body: { name: 'A' } })).body.meta.location!.split('/').at(-1)!;
  const tab = (await given.call('POST', '/tabs', { body: { name: 'A' } })).body.meta.location!;
  const klips = [{ klip_id: klip.toUpperCase() }];
  const placed = await given.call('PUT', `${tab}/klip-instances`, { body: { klips } });
  const [instance] = placed.body.data.klip_instances as { id: string }[];
  const state = { [instance!.id.toUpperCase()]: { region: 2, idx: 0 } };
  expect((await given.call('PUT', `${tab}/layout`, { body: { type: '50_50', state } })).status).toBe(200);
  const schema = { title: 'A', workspace: { datasources: [id, big] }, components: [] };
  expect((await given.call('PUT', `/klips/${klip}/schema`, { body: schema })).status).toBe(200);
  expect((await given.call('GET', `/klips/${klip}?full=true`)).body.data.datasources).toMatchObject([{ id }]);
  const tabId = tab.split('/').at(-1)!;
  const onScreen = { tab_ids: [tabId, tabId.toUpperCase()] };
  const shown = await given.call('PUT', '/users/acme-viewer/tab-instances', { body: onScreen });
  expect(shown.body.data.tab_instances).toMatchObject([{ tab_id: tabId }]);
});
