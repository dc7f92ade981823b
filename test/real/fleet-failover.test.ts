import { beforeAll, expect, it } from 'vitest';
import { FleetStage } from '../chaos/fleet-stage.ts';
import { openTheatre, type Theatre } from '../chaos/stage.ts';
import { forSuite } from '../journey/process.ts';
import { until } from '../journey/world.ts';
import { reportMissing } from '../servers/describe.ts';
import { openPair } from '../servers/pair.ts';
import { hasPostgres } from '../servers/postgres.ts';
import type { TestServer } from '../servers/server.ts';

const scope = forSuite();
let theatre: Theatre;
const jobs = 40;

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

  it('a fleet shows no older data if its database fails over to a standby that lags', async () => {
    const { address, endReplication, failOver } = await openPair(false);
    const { stage, processes } = await openFleet(address);
    await endReplication();
    const before = await stage.state();
    await untilSent(stage, before.outbox.filter(({ state }) => state === 'delivered').length + 10);
    await failOver();
    stage.oracle.lostState();
    const isNoticed = async () =>
      (await stage.query("select from @settings where name = 'database.failover'")).length === 1;
    await until('the failover to be noticed', isNoticed);
    await stage.untilSettled();
    for (const one of processes) await stage.end(one);
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
