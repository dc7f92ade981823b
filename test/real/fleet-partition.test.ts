import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, it } from 'vitest';
import { FleetStage } from '../chaos/fleet-stage.ts';
import { isOnRequest } from '../chaos/seeds.ts';
import { openTheatre, type Theatre } from '../chaos/stage.ts';
import { forSuite, makeFolder } from '../journey/process.ts';
import { until } from '../journey/world.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { hasIp, type Loss, type Namespace, openNamespace } from '../servers/namespace.ts';
import type { TestServer } from '../servers/server.ts';

const scope = forSuite();
const title = 'a fleet of which one process is cut off from everything else';
/** Those after the first one take more than a minute each. They run only if `SLUICE_CHAOS_SEEDS` is set. */
const partitions: readonly { readonly loses: Loss; readonly seconds: number }[] = [
  { loses: 'both ways', seconds: 10 },
  { loses: 'both ways', seconds: 60 },
  { loses: 'to the namespace', seconds: 60 },
  { loses: 'from the namespace', seconds: 60 },
];
let namespace: Namespace;

/** A server that also listens on the namespace's link. */
async function settings() {
  namespace = await openNamespace(scope);
  const folder = await makeFolder(scope);
  await chmod(folder, 0o755);
  const hba = join(folder, 'hba.conf');
  await writeFile(
    hba,
    'local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\nhost all all 10.231.0.0/16 scram-sha-256\n',
  );
  return { settings: { listen_addresses: `127.0.0.1,${namespace.here}`, hba_file: hba } };
}

if (!hasIp()) reportMissing(title, ['ip'], 'iproute2');
else if (process.getuid?.() !== 0) it.skip(`${title} (not run: network namespaces need root)`, () => {});
else describeWithServer({ servers: 'PostgreSQL', settings }, title, describeFleet);

function describeFleet(server: () => TestServer): void {
  let theatre: Theatre;

  beforeAll(async () => {
    theatre = await openTheatre(scope);
  });

  it.for(isOnRequest ? partitions : partitions.slice(0, 1))(
    '($loses, for $seconds s) loses nothing, exceeds no limit and runs each firing once',
    { timeout: 600_000 },
    async ({ loses, seconds }) => {
      const { here, under, forward } = namespace;
      const via = async (text: string): Promise<string> => {
        const url = new URL(text);
        url.port = String(await forward(Number(url.port)));
        url.hostname = here;
        return url.href;
      };
      const stage = await FleetStage.open(theatre, { server: { ...server(), host: here }, via, jobs: 80 });
      stage.upstream.advance();
      await stage.fire();
      const cutOff = stage.start({ how: { under } });
      stage.oracle.died(cutOff);
      const isSent = async () => (await stage.query("select from @outbox where state = 'delivered'")).length >= 5;
      await until('some payloads to be sent', isSent);
      const other = stage.start();
      // A process that starts while another one holds locks may give up (STATE_LOCKED), and would be started again.
      await until('the other process to start', () => other.output().includes('daemon.started'));
      await namespace.lose(loses);
      await wait(seconds * 1000);
      await stage.oracle.look();
      await namespace.restore();
      await stage.untilSettled();
      await stage.end(cutOff);
      await stage.end(other);
      stage.oracle.lostState();
      await stage.oracle.rest();
    },
  );
}
