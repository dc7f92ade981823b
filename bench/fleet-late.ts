import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { countText, durationText } from '../src/cli/output/format.ts';
import { type FleetLateness, measureFleetLateness } from './fleet-lateness.ts';
import { startService, writeFleet } from './fleet-world.ts';
import { watchServer } from './server-work.ts';

interface FleetLateGiven {
  /** Path of the built package's `sluice` command. */
  readonly sluice: string;
  readonly folder: string;
  /** Returns the URL of the state in a schema of the server. */
  readonly state: (schema: string) => string;
  readonly processes: number;
  readonly accounts: number;
  readonly jobs: number;
  readonly minutes: number;
}

/**
 * Measures daemons that share a state, with jobs that fire once a minute: first undisturbed, then while processes are
 * killed.
 */
export async function lateRows(given: FleetLateGiven): Promise<[string, string][]> {
  const { sluice, folder, state, minutes, ...shape } = given;
  const env = { ...process.env, SLUICE_KEY: randomBytes(32).toString('base64') };
  const rows: [string, string][] = [];
  const client = await watchServer(state('late'));
  try {
    for (const kills of [0, 3]) {
      const service = await startService();
      const schema = `kills_${kills}`;
      const config = { url: service.url, state: state(schema), always: false, schedule: { every: '1m', spread: '1m' } };
      const file = await writeFleet(join(folder, schema), { ...config, ...shape });
      const program = [process.execPath, sluice];
      const fleet = { sluice: program, file, minutes, kills, client, schema, env, ...shape };
      rows.push(...rowsOf(await measureFleetLateness(fleet).finally(service.stop), minutes));
    }
    return rows;
  } finally {
    await client.end();
  }
}

function rowsOf({ kills, again, perSecond, work, ...late }: FleetLateness, minutes: number): [string, string][] {
  const { runs, p50, p99, most } = late;
  const what = kills === 0 ? 'undisturbed' : `${kills} processes killed in ${minutes} min`;
  const spread = `half within ${durationText(p50)}, 99 of 100 within ${durationText(p99)}, at most ${durationText(most)}`;
  const { statements, cpuSeconds, walBytes, connections } = work;
  return [
    [`firings, ${what}`, `${perSecond.toFixed(1)} a second; ${spread} (${countText(runs)} firings)`],
    ['  run again after their process was killed', countText(again)],
    [
      '  the database for each run',
      `${statements.toFixed(1)} statements, ${(cpuSeconds * 1000).toFixed(1)} ms of CPU, ${(walBytes / 1000).toFixed(1)} kB of WAL`,
    ],
    ['  connections', countText(connections)],
  ];
}
