import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Problem } from '../../src/lib/problem.ts';
import { useServer } from '../../src/state/engine/database.ts';
import { jobLock } from '../../src/state/engine/lock-keys.ts';
import { sampleQuery } from '../../src/state/engine/state-client.ts';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { isUnwritable } from '../../src/state/engine/state-problem.ts';
import { openStore } from '../../src/state/store.ts';
import { noon } from '../clocks.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cleanUp, newFolder, newStore, oweText } from './fixtures.ts';
import { checkLocks } from './lock-check.ts';

afterEach(cleanUp);

describeWithServer({ servers: 'PostgreSQL' }, 'a state on a PostgreSQL server', (server) => {
  beforeAll(() => checkLocks(server()));

  let schemas = 0;
  const newDatabase = (changes: Partial<StateDatabase> = {}): StateDatabase => {
    const { host, port, user, password, database } = server();
    schemas += 1;
    return { host, port, user, password, database, schema: `state "${schemas}"`, ...changes };
  };
  /** A process on a machine of its own: a store with its own folder. */
  const open = (database: StateDatabase) => newStore({ folder: newFolder(), database });
  const query = async (text: string, parameters: unknown[] = []) => {
    const { host, port, user, password, database } = server();
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    return client.query(text, parameters).finally(() => client.end());
  };
  const refusal = (database: StateDatabase): Promise<Problem> =>
    open(database).then(
      () => expect.unreachable('the state was opened'),
      (error: Problem) => error,
    );

  /** The server's time in epoch milliseconds. */
  const serverTime = async (): Promise<number> => (await query(sampleQuery)).rows[0].now;
  /** Ends all connections of the stores, and waits until they know. */
  const loseConnections = async () => {
    await query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice'");
    await new Promise((resolve) => setTimeout(resolve, 100));
  };
  /** Holds the state's lock, as a transaction of another process does. Returns a function that releases it. */
  const holdLock = async ({ schema }: StateDatabase): Promise<() => Promise<void>> => {
    const { host, port, user, password, database } = server();
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [`sluice:${schema}`]);
    const release = () => client.end();
    onTestFinished(release);
    return release;
  };
  /** Creates the user, who owns the schema but may not create others. */
  const createRole = async ({ user, password, schema }: StateDatabase) => {
    await query(`create role ${user} login password '${password}'`);
    await query(`create schema ${pg.escapeIdentifier(schema)} authorization ${user}`);
  };

  it('is waited for only briefly if the process has to end before the state is open', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const given = { database: newDatabase({ host: '127.0.0.1', port }), stop: AbortSignal.abort() };
    // The driver's own limit would end the connection with another error.
    await expect(openStore(newFolder(), given)).rejects.toMatchObject({
      code: 'STATE_UNREACHABLE',
      seen: expect.not.stringContaining('timeout'),
    });
  });

  it('is refused if its tables differ from those of this version, also if other tables are in its schema', async () => {
    const database = newDatabase();
    await (await open(database)).close();
    const schema = pg.escapeIdentifier(database.schema);
    await query(`create table ${schema}.other (a text)`);
    await (await open(database)).close();
    await query(`alter table ${schema}.send_slots drop column days, add column day integer not null default 0`);
    await query(`drop table ${schema}.skips`);
    await query(`drop index ${schema}.runs_by_state`);
    await query(`create index on ${schema}.holds (since)`);
    const { code, message, seen, next } = await refusal(database);
    expect(code).toBe('STATE_OTHER');
    expect(message).toContain(database.schema);
    expect(seen).toBe(
      'table runs lacks index (state), table send_slots lacks days text not null, table send_slots has day integer not null, table skips is missing',
    );
    expect(next).toContain('another schema');
  });

  it('runs one transaction at a time, on whichever machine', async () => {
    const database = newDatabase();
    const stores = [await open(database), await open(database), await open(database)];
    await stores[0]!.settings.set('count', '0');
    const increment = (store: (typeof stores)[number]) =>
      store.transaction(async ({ settings }) => {
        await settings.set('count', String(Number(await settings.find('count')) + 1));
      });
    await Promise.all(Array.from({ length: 60 }, (_, nth) => increment(stores[nth % 3]!)));
    expect(await stores[0]!.settings.find('count')).toBe('60');
  });

  it('runs transactions at the same time if they lock different keys', async () => {
    const database = newDatabase();
    const [one, other] = [await open(database), await open(database)];
    await one.transactionOn([jobLock('a')], async (parts) => {
      await parts.runs.begin({ job: 'a', origin: 'schedule' });
      await other.runs.begin({ job: 'b', origin: 'schedule' });
    });
    expect(await one.runs.history({ limit: 3 })).toHaveLength(2);
  });

  it.each([
    ['the same key', [jobLock('a'), jobLock('b')]],
    ['the whole state', undefined],
  ])('runs no transaction that locks %s during one that locks a key', async (_, keys) => {
    const database = newDatabase();
    const [one, other] = [await open(database), await open(database)];
    const order: string[] = [];
    const say = async (name: string) => void order.push(name);
    let second: Promise<void> | undefined;
    await one.transactionOn([jobLock('b'), jobLock('c')], async ({ runs }) => {
      await runs.last('b');
      second = keys ? other.transactionOn(keys, () => say('second')) : other.transaction(() => say('second'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      await say('first');
    });
    await second;
    expect(order).toEqual(['first', 'second']);
  });

  it('takes and releases leases during a transaction', async () => {
    const database = newDatabase();
    const [one, other] = [await open(database), await open(database)];
    await one.transaction(async () => {
      const lease = await other.leases.take('a');
      expect(await one.leases.take('a')).toBeUndefined();
      await lease?.release();
      expect(await other.leases.take('a')).toBeDefined();
    });
  });

  it('needs a lock for each row that a transaction changes (the check of these tests)', async () => {
    const store = await open(newDatabase());
    const plan = (job: string) =>
      store.transactionOn([jobLock('a')], ({ schedules }) => schedules.set({ job, schedule: 'x', next_at: noon }));
    await plan('a');
    await expect(plan('b')).rejects.toThrow('has not locked the key of a row in schedules');
    await store.schedules.set({ job: 'b', schedule: 'x', next_at: noon });
    const count = () => store.transactionOn([], ({ settings }) => settings.set('a', '1'));
    await expect(count()).rejects.toThrow('has not locked the key of a row in settings');
  });

  it('runs no single write during a transaction', async () => {
    const database = newDatabase();
    const [one, other] = [await open(database), await open(database)];
    const order: string[] = [];
    let write: Promise<unknown> | undefined;
    await one.transaction(async ({ settings }) => {
      await settings.set('a', '1');
      write = other.settings.set('b', '1').then(() => order.push('write'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      order.push('transaction');
    });
    await write;
    expect(order).toEqual(['transaction', 'write']);
  });

  it('records heartbeats while another process holds the lock', async () => {
    const [database, folder] = [newDatabase(), newFolder()];
    const store = await newStore({ folder, database });
    await store.heartbeats.beat();
    await holdLock(database);
    const { unlockedDb, close } = await useServer(database, folder);
    onTestFinished(close);
    await unlockedDb!.updateTable('heartbeats').set({ wall_ms: 1 }).execute();
    expect(await store.heartbeats.lastBeat(store.processes.self)).toBe(1);
  });

  describe('a process on another machine that was silent', () => {
    /** A store on a machine whose processes can't be inspected. */
    const openAs = (self: string, database: StateDatabase, bootedAt: number) =>
      newStore({
        folder: newFolder(),
        database,
        processes: { self, boot: 'b', bootedAt, stateOf: () => 'unknown', sharesBoot: () => true },
      });

    /** Process `a` holds a lease and records no more heartbeats. */
    async function silent(database: StateDatabase, ms = 60_000) {
      const a = await openAs('a', database, 0);
      await a.leases.take('job:x');
      await query(`update ${pg.escapeIdentifier(database.schema)}.heartbeats set monotonic_ms = monotonic_ms - ${ms}`);
    }

    it('is looked up in the same statement as all others when the settings of processes that ended are deleted', async () => {
      const database = newDatabase();
      for (const name of ['a', 'b', 'c']) {
        const { processSettings, heartbeats } = await openAs(name, database, 0);
        await heartbeats.beat();
        for (const setting of ['config', 'process']) await processSettings.set(setting, 'x');
      }
      await query(`delete from ${pg.escapeIdentifier(database.schema)}.heartbeats where owner = 'b'`);
      const { processSettings } = await openAs('d', database, 0);
      const statements = vi.spyOn(pg.Client.prototype, 'query');
      onTestFinished(() => statements.mockRestore());
      await processSettings.removeGone();
      const lookups = statements.mock.calls.filter(([text]) => /^select .* from .*"heartbeats"/.test(String(text)));
      expect(lookups).toHaveLength(1);
      expect((await processSettings.all('config')).map(({ owner }) => owner)).toEqual(['a', 'c']);
    });

    it('is looked up in the same statement as all others when their leases and runs are recovered', async () => {
      const database = newDatabase();
      for (const name of ['a', 'b', 'c']) {
        const { leases, runs } = await openAs(name, database, 0);
        await leases.take(`job:${name}`);
        await runs.begin({ job: name, origin: 'schedule' });
      }
      await query(`delete from ${pg.escapeIdentifier(database.schema)}.heartbeats where owner = 'b'`);
      const { leases, runs } = await openAs('d', database, 0);
      const statements = vi.spyOn(pg.Client.prototype, 'query');
      onTestFinished(() => statements.mockRestore());
      await runs.interruptOrphans();
      await leases.removeDead();
      const lookups = statements.mock.calls.filter(([text]) => /^select .* from .*"heartbeats"/.test(String(text)));
      expect(lookups).toHaveLength(2);
      expect((await runs.underway()).map(({ owner }) => owner).sort()).toEqual(['a', 'c']);
      expect((await leases.held()).map(({ owner }) => owner).sort()).toEqual(['a', 'c']);
    });

    it('counts as dead', async () => {
      const database = newDatabase();
      await silent(database, 160_000);
      const other = await openAs('b', database, 0);
      expect(await other.leases.take('job:x')).toBeDefined();
    });

    it("doesn't count as dead for a process that has just started, because the server may have been frozen", async () => {
      const database = newDatabase();
      await silent(database);
      const other = await openAs('b', database, 0);
      expect(await other.leases.take('job:x')).toBeUndefined();
      await other.heartbeats.beat();
      expect(await other.leases.take('job:x')).toBeUndefined();
      const real = performance.now.bind(performance);
      let passed = 0;
      const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() + passed);
      onTestFinished(() => spy.mockRestore());
      for (let n = 0; n < 2; n++) {
        await new Promise((resolve) => setTimeout(resolve, 3_100));
        passed += 16_000;
        await other.heartbeats.beat();
      }
      expect(await other.leases.take('job:x')).toBeDefined();
    });

    it("doesn't count as dead until the server has run for long enough", async () => {
      const database = newDatabase();
      await silent(database, 160_000);
      const now = await serverTime();
      expect(await (await openAs('b', database, now)).leases.take('job:x')).toBeUndefined();
      expect(await (await openAs('c', database, now - 151_000)).leases.take('job:x')).toBeDefined();
    });

    it("doesn't count as dead for a process that couldn't reach the server either, until it can for long enough", async () => {
      const database = newDatabase();
      const other = await openAs('b', database, 0);
      await other.heartbeats.beat();
      const real = performance.now.bind(performance);
      let passed = 0;
      const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() + passed);
      onTestFinished(() => spy.mockRestore());
      passed = 60_000;
      await silent(database);
      expect(await other.leases.take('job:x')).toBeUndefined();
      const beatAgain = async () => {
        await new Promise((resolve) => setTimeout(resolve, 3_100));
        await other.heartbeats.beat();
      };
      await beatAgain();
      expect(await other.leases.take('job:x')).toBeUndefined();
      passed += 16_000;
      await beatAgain();
      passed += 16_000;
      expect(await other.leases.take('job:x')).toBeDefined();
    });
  });

  it('applies the migrations once if several processes open it at the same time', async () => {
    const database = newDatabase();
    const stores = await Promise.all([open(database), open(database), open(database)]);
    await stores[0]!.settings.set('a', '1');
    expect(await stores[2]!.settings.find('a')).toBe('1');
  });

  it("doesn't wait for another state in the same database", async () => {
    const [one, other] = [await open(newDatabase()), await open(newDatabase())];
    await one.transaction(async ({ settings }) => {
      await settings.set('a', 'one');
      await other.settings.set('a', 'other');
    });
    expect([await one.settings.find('a'), await other.settings.find('a')]).toEqual(['one', 'other']);
  });

  it('stores NUL characters as replacement characters, large numbers exactly, and sorts text by bytes', async () => {
    const store = await open(newDatabase());
    await store.settings.set('probe', 'a\0b');
    expect(await store.settings.find('probe')).toBe('a\ufffdb');
    for (const job of ['b', 'a', 'B']) {
      await store.schedules.set({ job, schedule: 'x', next_at: noon + 2 ** 40 });
    }
    expect((await store.schedules.all()).map(({ job }) => job)).toEqual(['B', 'a', 'b']);
    expect((await store.schedules.find('a'))?.next_at).toBe(noon + 2 ** 40);
  });

  it("uses the server's clock", async () => {
    const store = await open(newDatabase());
    const before = await serverTime();
    await store.settings.set('a', '1');
    expect(store.clock.monotonic()).toBeGreaterThanOrEqual(before);
    const seen = store.clock.monotonic();
    expect(seen).toBeLessThanOrEqual(await serverTime());
  });

  it('rolls a failed transaction back, also if its code ignores the error', async () => {
    const store = await open(newDatabase());
    const ignoring = store.transaction(async ({ settings }) => {
      await settings.set('a', '1');
      await settings.set(null as never, '1').catch(() => undefined);
      await settings.set('b', '1');
    });
    await expect(ignoring).rejects.toThrow('null value');
    expect(await store.settings.find('a')).toBeUndefined();
    await store.settings.set('c', '1');
    expect(await store.settings.find('c')).toBe('1');
  });

  it('replaces connections that the server has closed', async () => {
    const store = await open(newDatabase());
    await store.settings.set('a', '1');
    await loseConnections();
    await store.settings.set('a', '2');
    expect(await store.settings.find('a')).toBe('2');
  });

  it('continues after the server was restarted, and sees that it was', async () => {
    const store = await open(newDatabase());
    await oweText(store, { instance: 'i', text: 'a', asOf: 1 });
    const { boot } = store.processes;
    await server().restart();
    await store.settings.set('a', '1');
    expect(await store.outbox.inState('owed')).toHaveLength(1);
    expect(store.processes.boot).not.toBe(boot);
  });

  it('reports a connection that was lost in a transaction, and is writable again afterwards', async () => {
    const store = await open(newDatabase());
    const lost = store.transaction(async ({ settings }) => {
      await settings.set('a', '1');
      await loseConnections();
      await settings.set('a', '2');
    });
    const problem = await lost.catch((error: unknown) => error);
    expect(isUnwritable(problem)).toBe(true);
    expect(problem).toMatchObject({ code: 'STATE_UNREACHABLE' });
    expect(store.unwritable()).toMatchObject({ code: 'STATE_UNREACHABLE' });
    expect(await store.probe()).toBeUndefined();
    expect(await store.settings.find('a')).toBeUndefined();
  });

  it('reports a lock that another process holds for too long', async () => {
    const database = newDatabase();
    const store = await open(database);
    const release = await holdLock(database);
    await expect(store.settings.set('a', '1')).rejects.toMatchObject({ code: 'STATE_LOCKED', family: 'try_later' });
    expect(store.unwritable()).toMatchObject({ code: 'STATE_LOCKED' });
    // Leases and heartbeats don't wait for the lock.
    expect(await store.leases.take('job:x')).toBeDefined();
    expect(store.unwritable()).toMatchObject({ code: 'STATE_LOCKED' });
    await release();
    expect(await store.probe()).toBeUndefined();
  });

  it('reports a refused login without the password', async () => {
    const problem = await refusal(newDatabase({ password: 'wrong-password' }));
    expect(problem).toMatchObject({ code: 'STATE_REFUSED', family: 'config' });
    expect(JSON.stringify([problem.message, problem.seen, problem.stack])).not.toContain('wrong-password');
  });

  it.each([
    ['a database that does not exist', { database: 'none' }, 'STATE_REFUSED'],
    ['a missing password', { password: '' }, 'STATE_REFUSED'],
    ['a server without TLS', { tls: { verifyIdentity: true } }, 'STATE_REFUSED'],
    ['a port without a server', { port: 1 }, 'STATE_UNREACHABLE'],
    ['a socket that does not exist', { host: '/nowhere' }, 'STATE_UNREACHABLE'],
  ])('reports %s at once', async (_, changes, code) => {
    expect(await refusal(newDatabase(changes))).toMatchObject({ code });
  });

  it('reports a server that only reads', async () => {
    const database = newDatabase({ user: 'limited', password: 'limited-password' });
    await createRole(database);
    const store = await open(database);
    await query('alter role limited set default_transaction_read_only = on');
    await loseConnections();
    expect(await store.probe()).toMatchObject({ code: 'STATE_READ_ONLY' });
  });

  it('can be used by a user who may not create schemas', async () => {
    const database = newDatabase({ user: 'owner', password: 'owner-password' });
    await createRole(database);
    expect(await refusal({ ...database, schema: 'elsewhere' })).toMatchObject({ code: 'STATE_REFUSED' });
    const store = await open(database);
    await store.settings.set('a', '1');
    expect(await store.settings.find('a')).toBe('1');
  });

  it('stays in memory if only this process needs it', async () => {
    const database = newDatabase();
    const store = await openStore(newFolder(), { database, durable: false });
    onTestFinished(() => store.close());
    const { rows } = await query('select 1 from pg_namespace where nspname = $1', [database.schema]);
    expect(rows).toEqual([]);
  });
});
