import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { env, FleetStage } from '../chaos/fleet-stage.ts';
import { openTheatre, type Theatre } from '../chaos/stage.ts';
import { forSuite, forTest } from '../journey/process.ts';
import { until } from '../journey/world.ts';
import { reportMissing } from '../servers/describe.ts';
import { openGate } from '../servers/gate.ts';
import { hasPostgres, startPostgres } from '../servers/postgres.ts';
import type { TestServer } from '../servers/server.ts';
import { startStandby } from '../servers/standby.ts';

const scope = forSuite();
let theatre: Theatre;
const jobs = 40;

async function run<T extends object>({ url }: TestServer, text: string): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows as T[])
    .finally(() => client.end());
}

/** A primary, a standby that streams from it, and an address that leads to the primary until `failOver`. */
async function openPair(isSynchronous: boolean) {
  const primary = await startPostgres();
  forTest(() => primary.stop());
  const standby = await startStandby(primary);
  forTest(() => standby.stop());
  if (isSynchronous) {
    await run(primary, "alter system set synchronous_standby_names = '*'");
    await run(primary, 'select pg_reload_conf()');
    await until('the standby to be synchronous', async () => {
      const [row] = await run<{ sync_state: string }>(primary, 'select sync_state from pg_stat_replication');
      return row?.sync_state === 'sync';
    });
  }
  const gate = await openGate(primary.port, Number.POSITIVE_INFINITY, forTest);
  return {
    standby,
    address: { ...primary, port: gate.port },
    async failOver(): Promise<void> {
      await primary.kill();
      gate.aim(standby.port);
      await run(standby, 'select pg_promote()');
    },
  };
}

/** Two processes that have sent some of their payloads. */
async function openFleet(server: TestServer) {
  const stage = await FleetStage.open(theatre, { server, jobs });
  stage.upstream.advance();
  await stage.fire();
  const processes = [stage.start(), stage.start()];
  await untilSent(stage, 5);
  return { stage, processes };
}

async function untilSent(stage: FleetStage, count: number): Promise<void> {
  const isSent = async () => (await stage.query("select from @outbox where state = 'delivered'")).length >= count;
  await until('payloads to be sent', isSent);
}

if (!hasPostgres()) reportMissing('a fleet whose database fails over', ['PostgreSQL'], 'postgresql');
else {
  beforeAll(async () => {
    theatre = await openTheatre(scope);
  });

  it('a fleet loses nothing, exceeds no limit and runs each firing once if its database fails over to a synchronous standby', async () => {
    const { address, failOver } = await openPair(true);
    const { stage, processes } = await openFleet(address);
    await failOver();
    await stage.untilSettled();
    for (const one of processes) await stage.end(one);
    stage.oracle.lostState();
    await stage.oracle.rest();
    stage.upstream.advance();
    await stage.fire();
    await stage.rest();
  }, 600_000);

  it('a fleet shows no older data after a failover to a standby that lags, if it is stopped and "restore --distrust" has run', async () => {
    const { address, standby, failOver } = await openPair(false);
    const { stage, processes } = await openFleet(address);
    // The standby receives no more. What follows is lost.
    await run(standby, "alter system set primary_conninfo = ''");
    await run(standby, 'select pg_reload_conf()');
    const before = await stage.state();
    await untilSent(stage, before.outbox.filter(({ state }) => state === 'delivered').length + 10);
    for (const { child, ended } of processes) {
      child.kill('SIGKILL');
      await ended;
    }
    await failOver();
    const [lost] = await stage.query<{ n: number }>("select count(*)::int as n from @outbox where state = 'delivered'");
    expect(lost!.n, 'receipts are lost').toBeLessThan(jobs);
    const { stdout, code } = await stage.home.sluice(['restore', '--distrust'], { env });
    expect({ stdout, code }).toMatchObject({ code: 0, stdout: expect.stringContaining("Today's request count") });
    const first = stage.start();
    await stage.untilSettled();
    await stage.end(first);
    stage.upstream.advance();
    await stage.fire();
    const next = stage.start();
    await stage.untilSettled();
    await stage.end(next);
    expect(await stage.oracle.look(), 'every job has sent its data again').toEqual(
      Array.from({ length: jobs }, () => stage.upstream.version),
    );
  }, 600_000);
}
