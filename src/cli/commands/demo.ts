import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import type { CliCommand } from '../command.ts';
import { onStop } from '../signals.ts';

/**
 * A fixed key is harmless here: only the demo's service accepts it, and this service listens only on loopback and stops
 * with the demo.
 */
const demoKey = 'de'.repeat(20);

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function run(): Promise<void> {
  const folder = await makeTempFolder('demo');
  const stop = onStop();
  try {
    process.exitCode = await play(folder, stop.signal);
  } finally {
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the sources and the service, syncs twice and shows the result. */
async function play(folder: string, signal: AbortSignal): Promise<number> {
  const sources = await import('../demo/sources.ts');
  sources.makeShop(folder);
  await sources.makeVisits(folder);
  const api = await sources.serveApi();
  try {
    return await playWith(api.url, { folder, signal });
  } finally {
    // An open server keeps the process alive, so it's closed even if the service didn't start.
    await api.close();
  }
}

async function playWith(
  api: string,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<number> {
  const service = await startService(folder);
  try {
    say(
      `1. The embedded service listens on ${service.url}. The sources are a SQLite database, a csv file and an HTTP API.\n`,
    );
    const env = {
      SLUICE_DEMO_FOLDER: folder,
      SLUICE_DEMO_SERVICE: service.url,
      SLUICE_DEMO_KEY: demoKey,
      SLUICE_DEMO_API: api,
    };
    const pulled = await createPulledSource(service.url, api);
    // The request that created the data source bypassed the rate limiter. Wait until that request no longer counts
    // towards the limit.
    await wait(1000);
    const config = await loadDemoConfig({ ...env, SLUICE_DEMO_REFRESH: pulled });
    return await travel({ config, service: service.url, pulled, signal });
  } finally {
    await service.close();
  }
}

async function startService(folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const [{ startService: start }, { pullDatasource }] = await Promise.all([
    import('../../service/service.ts'),
    import('../pull.ts'),
  ]);
  const user = { email: 'demo@localhost', first_name: 'Demo', last_name: 'Person', role: 'Admin', api_keys: [demoKey] };
  const fixtures = join(folder, 'fixtures.json');
  await writeFile(fixtures, JSON.stringify({ companies: [{ name: 'Demo', plan: 'starter', users: [user] }] }));
  return start({ data: 'memory', fixtures, pull: pullDatasource });
}

async function loadDemoConfig(env: Record<string, string>): Promise<Config> {
  const { loadConfig } = await import('../../config/load.ts');
  const { config, problems } = await loadConfig(await shippedConfig(), { env });
  if (config === undefined || problems.length > 0) throw problems[0] ?? new Error('the demo has no config');
  return config;
}

/** The path leads two levels up from the source files, or three levels up from the built files. */
async function shippedConfig(): Promise<string> {
  const { existsSync } = await import('node:fs');
  const places = ['../../../config/demo.yaml', '../../../../config/demo.yaml'].map((up) =>
    resolve(import.meta.dirname, up),
  );
  return places.find((place) => existsSync(place)) ?? places[0]!;
}

interface Journey {
  readonly config: Config;
  readonly service: string;
  readonly pulled: string;
  readonly signal: AbortSignal;
}

async function travel({ config, service, pulled, signal }: Journey): Promise<number> {
  const [{ composeRuntime }, { syncJobs }, { followJobs }, { exitCodeOf, showSummary }, { declare }] =
    await Promise.all([
      import('../../daemon/compose.ts'),
      import('../../daemon/run/sync-jobs.ts'),
      import('../sync/follow.ts'),
      import('../sync/summary.ts'),
      import('../demo/declare.ts'),
    ]);
  const runtime = await composeRuntime({ config });
  const jobs = [...config.jobs.values()];
  const sync = async (): Promise<number> => {
    const screen = process.stdout.isTTY === true ? process.stdout : undefined;
    const follow = followJobs(runtime.events, { screen, jobs });
    const outcomes = await syncJobs({ runtime, config, jobs, signal, patienceMs: 60_000 }).finally(follow.stop);
    showSummary({ outcomes, refused: [], json: false });
    return exitCodeOf(outcomes, []);
  };
  try {
    say('2. `sluice apply --yes`: creates the data sources that the jobs declare');
    for (const line of await declare({ runtime, config, signal })) say(`   ${line}`);
    say('\n3. `sluice sync`: three sources as csv, json and xml, and a bulk refresh; at most 5 requests a second');
    const first = await sync();
    say('\n4. The same again: nothing has changed, so nothing is sent');
    const second = await sync();
    const { showArrived } = await import('../demo/arrived.ts');
    await showArrived({ service, key: demoKey, pulled, store: runtime.store });
    say('\nThe jobs are defined in config/demo.yaml. To write your own config: sluice init');
    return Math.max(first, second);
  } finally {
    await runtime.close();
  }
}

/** A data source that the service itself pulls, which the demo uses to show a bulk refresh. */
async function createPulledSource(service: string, api: string): Promise<string> {
  const { callService } = await import('../demo/arrived.ts');
  const properties = { endpoint_url: `${api}/weather`, method: 'GET', parameters: '[]' };
  const body = { name: 'Weather', format: 'json', connector: 'simple_rest', refresh_interval: 0, properties };
  const { meta } = await callService<{ meta: { location: string } }>({
    service,
    key: demoKey,
    method: 'POST',
    path: '/datasources',
    body,
  });
  return meta.location.split('/').at(-1) ?? '';
}

export default {
  help: {
    examples: [['sluice demo', 'needs no config, and leaves nothing behind']],
  },
  register(program: Command): void {
    program
      .command('demo')
      .description('Runs a complete example in a few seconds, with local sources and the embedded service.')
      .action(run);
  },
} satisfies CliCommand;
