import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { examineServer, serverFindings } from '../../../src/daemon/doctor/server.ts';
import type { ServerInspection } from '../../../src/state/engine/inspect-server.ts';
import { describeWithServer } from '../../servers/describe.ts';

const sound: ServerInspection = {
  user: 'sluice',
  schema: 'sluice',
  version: '15.9',
  versionNumber: 150_009,
  isPooled: false,
  isReadOnly: false,
  hasSchema: true,
  mayCreate: true,
  roundTripMs: 0.4,
  clockDifferenceMs: -12,
  standbys: 0,
  isCommitSynchronous: false,
  isCommitDurable: true,
};

const badOnes = (change: Partial<ServerInspection>) =>
  serverFindings({ ...sound, ...change }).flatMap(({ ok, message, fix }) => (ok ? [] : [`${message}: ${fix}`]));

describe("the findings about a state's database", () => {
  it.each<[string, Partial<ServerInspection>, string | undefined]>([
    ['a sound server', {}, undefined],
    ['a synchronous standby', { standbys: 1, isCommitSynchronous: true }, undefined],
    ['an asynchronous standby', { standbys: 1 }, 'standby servers are asynchronous'],
    ['commits that are not on disk', { isCommitDurable: false }, 'synchronous_commit is off'],
    ['an old version', { version: '14.2', versionNumber: 140_002 }, 'PostgreSQL 14.2 is too old'],
    ['a standby', { isReadOnly: true }, 'the database is read-only'],
    ['a schema of another user', { mayCreate: false }, 'grant all on schema sluice to "sluice"'],
    ['a missing schema', { mayCreate: false, hasSchema: false }, 'create schema sluice authorization "sluice"'],
    [
      'a distant server',
      { roundTripMs: 20 },
      '20.0 ms for a round trip to the database, so Sluice sends at most about 1.7',
    ],
    ['another clock', { clockDifferenceMs: -61_000 }, "the database's clock differs from this machine's by 61.0 s"],
  ])('include, for %s, only what is wrong', (_, change, wanted) => {
    expect(badOnes(change)).toEqual(wanted === undefined ? [] : [expect.stringContaining(wanted)]);
  });
});

describeWithServer({ servers: 'PostgreSQL' }, "a state's real server", (server) => {
  const database = () => ({ ...server(), schema: 'sluice' });

  it('has no findings if it is new', async () => {
    const findings = await examineServer(database());
    // How fast it responds depends on what else this machine does.
    expect(findings.filter(({ ok, check }) => !ok && check !== 'database latency')).toEqual([]);
    expect(findings.map(({ check }) => check)).toContain('database latency');
  });

  it('is inspected with the rights of the user', async () => {
    const { host, port, user, password, database: name } = server();
    const client = new pg.Client({ host, port, user, password, database: name });
    await client.connect();
    await client.query("create role reader login password 'reader-pass'; create schema sluice");
    await client.query('alter role reader set default_transaction_read_only = on');
    await client.end();
    const asReader = { ...database(), user: 'reader', password: 'reader-pass' };
    expect(await examineServer(asReader)).toContainEqual(
      expect.objectContaining({ message: 'the database is read-only' }),
    );
  });

  it('is reported if it cannot be reached', async () => {
    const findings = await examineServer({ ...database(), password: 'not the password' });
    expect(findings).toEqual([expect.objectContaining({ check: 'database', ok: false })]);
    expect(JSON.stringify(findings)).not.toContain('not the password');
  });
});
