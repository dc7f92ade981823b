import { describe, expect, it, onTestFinished } from 'vitest';
import { createInstances } from '../../src/service/datasource-instancing.ts';
import { createFirstCompany } from '../../src/service/first-company.ts';
import { Database } from '../../src/service/store/database.ts';
import { insertDatasource } from '../../src/service/store/datasources.ts';
import { instancesOf, propertiesOf } from '../../src/service/store/instances.ts';
import { insertUser } from '../../src/service/store/setup.ts';

/** An account with its admin and these users, each in a region. */
async function accountWith(
  regions: Record<string, string>,
): Promise<{ db: Database; accountId: string; adminId: string }> {
  const db = await Database.open('memory');
  onTestFinished(() => db.close());
  createFirstCompany(db, 0);
  const { id: adminId, accountId } = db.get<{ id: string; accountId: string }>(
    'select id, account_id as accountId from users',
  )!;
  const { id: roleId } = db.get<{ id: string }>("select id from roles where name = 'Editor'")!;
  for (const [id, region] of Object.entries(regions)) {
    insertUser(db, { id, accountId, roleId, email: `${id}@x.test`, firstName: '', lastName: '', createdAt: 1 });
    db.run(
      'insert into user_properties (account_id, name, user_id, value) values (?, ?, ?, ?)',
      accountId,
      'region',
      id,
      region,
    );
  }
  return { db, accountId, adminId };
}

function create(
  db: Database,
  { accountId, createdBy }: { accountId: string; createdBy: string },
  properties: object,
): string[] {
  const source = {
    id: 'source',
    accountId,
    name: 'S',
    description: '',
    connector: 'simple_rest',
    format: 'json',
    refreshInterval: 0,
    noRefresh: 0,
    properties: JSON.stringify(properties),
    createdBy,
    createdAt: 5,
  } as const;
  const { instanceId } = createInstances(
    db,
    { source, properties: properties as Record<string, unknown> },
    insertDatasource,
  );
  return [
    instanceId,
    ...instancesOf(db, 'source')
      .map(({ id }) => id)
      .filter((id) => id !== instanceId),
  ];
}

describe('a dynamic data source', () => {
  it("has one instance for each distinct set of values, starting with its creator's", async () => {
    const { db, accountId } = await accountWith({ ann: 'north', bob: 'south', cid: 'north' });
    const properties = {
      endpoint_url: 'https://x.test/{props.region}',
      nested: [{ value: '{props.region}-{props.unset}' }],
      n: 1,
    };
    const ids = create(db, { accountId, createdBy: 'bob' }, properties);
    const resolved = ids.map((id) => propertiesOf(db, id));
    const of = (region: string): object => ({
      endpoint_url: `https://x.test/${region}`,
      nested: [{ value: `${region}-` }],
      n: 1,
    });
    expect(resolved[0]).toEqual(of('south'));
    expect(resolved).toHaveLength(3);
    expect(resolved).toEqual(expect.arrayContaining([of('north'), of('south'), of('')]));
    expect(ids).not.toContain('source');
  });

  it("needs references: without any, a source has a single instance with the source's ID", async () => {
    const { db, accountId } = await accountWith({ ann: 'north', bob: 'south' });
    expect(create(db, { accountId, createdBy: 'ann' }, { endpoint_url: 'https://x.test/{props}/{region}' })).toEqual([
      'source',
    ]);
  });
});
