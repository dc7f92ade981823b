import { beforeAll, expect, it } from 'vitest';
import { FleetStage } from '../chaos/fleet-stage.ts';
import { isOnRequest } from '../chaos/seeds.ts';
import { openTheatre, type Theatre } from '../chaos/stage.ts';
import { forSuite, forTest } from '../journey/process.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { hasPgbouncer, startPgbouncer } from '../servers/pgbouncer.ts';
import type { TestServer } from '../servers/server.ts';

const scope = forSuite();
const steps = [
  'commit insert into fleet_runs #1',
  'done commit update fleet_runs set owner #1',
  'commit update fleet_runs set run #2',
  'commit update blobs set sha256 #1',
  'commit update runs set state #1',
  'done commit update runs set state #2',
  'commit update fleet_runs set outcome #1',
  'commit delete from fleet_runs #1',
  'done commit update runs set requests #1',
  'commit update send_slots set free_at #1',
  'done commit update send_slots set free_at #2',
  'commit delete from leases #2',
];

if (!hasPgbouncer()) reportMissing('a fleet behind PgBouncer', ['PgBouncer'], 'pgbouncer');
else describeWithServer({ servers: 'PostgreSQL' }, 'a fleet behind PgBouncer in transaction mode', describeFleet);

function describeFleet(server: () => TestServer): void {
  let theatre: Theatre;

  beforeAll(async () => {
    theatre = await openTheatre(scope);
  });

  it('loses nothing, exceeds no limit and runs each firing once if the pooler is killed before or after a step', async () => {
    const front = await startPgbouncer(server(), 'transaction', { settings: { default_pool_size: 20 } });
    forTest(() => front.stop());
    const stage = await FleetStage.open(theatre, { server: server(), front });
    const helper = stage.start({ args: ['--work-only', '--concurrency', '1'] });
    // All steps take minutes. They run only if `SLUICE_CHAOS_SEEDS` is set.
    for (const step of isOnRequest ? steps : steps.slice(0, 4)) {
      stage.upstream.advance();
      await stage.disturbAt(step, async () => {
        await front.kill();
        await front.restart();
      });
    }
    await stage.end(helper);
    await stage.rest();
    expect(await stage.query('select from @fleet_runs')).toEqual([]);
  }, 900_000);
}
