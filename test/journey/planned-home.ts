import { type Home, makeHome } from './home.ts';
import { forTest } from './process.ts';
import { adminKey } from './world.ts';

/** A URL that refuses connections, for commands that only calculate. */
const nowhere = { url: 'http://127.0.0.1:9/api/1.0', api_key: adminKey };

/** A job that reads a file and writes to this destination; a test adds the rest. */
export const fileJob = { source: 'files', query: 'orders.csv', format: 'csv', target: 'ab'.repeat(16) };

/** A home whose jobs are planned and never run. */
export async function plannedHome(given: { destination?: object; jobs: object }): Promise<Home> {
  const home = await makeHome(forTest);
  await home.config({
    destinations: { main: { ...nowhere, ...given.destination } },
    sources: { files: { connector: 'file' } },
    jobs: given.jobs,
  });
  return home;
}
