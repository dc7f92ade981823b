import { describe, expect, it } from 'vitest';
import { Database } from '../../src/service/store/database.ts';
import { bench, keys } from './service.ts';

describe('a cached caller', () => {
  const asViewer = { key: keys.acmeViewer };

  it('gets a new role on the next call', async () => {
    const given = await bench();
    expect((await given.call('GET', '/users', asViewer)).status).toBe(401);
    const { roles } = (await given.call('GET', '/roles')).body.data as { roles: { id: string; name: string }[] };
    const admin = roles.find(({ name }) => name === 'Admin')!;
    await given.call('PUT', `/users/acme-viewer/roles/${admin.id}`);
    expect((await given.call('GET', '/users', asViewer)).status).toBe(200);
    await given.call('DELETE', `/users/acme-viewer/roles/${admin.id}`);
    expect((await given.call('GET', '/users', asViewer)).status).toBe(401);
  });

  it("gets the role's new permissions on the next call", async () => {
    const given = await bench();
    const asReporter = { key: keys.acmeReporter };
    expect((await given.call('GET', '/datasources', asReporter)).status).toBe(200);
    const { roles } = (await given.call('GET', '/roles')).body.data as { roles: { id: string; name: string }[] };
    const { id } = roles.find(({ name }) => name === 'Reporter')!;
    await given.call('PUT', `/roles/${id}`, { body: { permissions: [] } });
    expect((await given.call('GET', '/datasources', asReporter)).status).toBe(401);
  });

  it('is rejected on the next call after the user and the key are deleted', async () => {
    const given = await bench();
    expect((await given.call('GET', '/profile', asViewer)).status).toBe(200);
    await given.call('DELETE', '/users/acme-viewer');
    expect((await given.call('GET', '/profile', asViewer)).status).toBe(401);
  });

  it('is locked out or let in on the next call after the account is disabled or enabled', async () => {
    const given = await bench();
    const asClient = { key: keys.clientAdmin };
    expect((await given.call('GET', '/profile', asClient)).status).toBe(200);
    await given.call('PUT', '/clients/bakery', { body: { status: 'disabled' } });
    expect((await given.call('GET', '/profile', asClient)).status).toBe(401);
    await given.call('PUT', '/clients/bakery', { body: { status: 'active' } });
    expect((await given.call('GET', '/profile', asClient)).status).toBe(200);
  });

  it('gets a new name on the next call', async () => {
    const given = await bench();
    await given.call('GET', '/profile', asViewer);
    await given.call('PUT', '/users/acme-viewer', { body: { first_name: 'Viola' } });
    expect((await given.call('GET', '/profile', asViewer)).body.data).toMatchObject({ first_name: 'Viola' });
  });
});

describe('a cached query result', () => {
  const total = (db: Database): number =>
    db.remember('total', '', () => db.get<{ n: number }>('select count(*) as n from accounts')!.n);
  const add = (db: Database, id: string): number =>
    db.run(`insert into accounts (id, name, created_at) values ('${id}', 'A', 0)`);

  it('is dropped at the next write, even one that returns rows', async () => {
    const db = await Database.open('memory');
    expect([total(db), add(db, 'a'), total(db)]).toEqual([0, 1, 1]);
    db.get("insert into accounts (id, name, created_at) values ('b', 'B', 0) returning id");
    expect(total(db)).toBe(2);
    db.close();
  });

  it('never comes from a transaction that was rolled back', async () => {
    const db = await Database.open('memory');
    const failed = (): void =>
      db.transaction(() => {
        add(db, 'a');
        expect(total(db)).toBe(1);
        throw new Error('no');
      });
    expect(failed).toThrow('no');
    expect(total(db)).toBe(0);
    db.close();
  });
});
