import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../journey/home.ts';
import { forTest, type Scope, type Start } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';
import { Control } from './control.ts';
import { Oracle } from './oracle.ts';
import { Upstream } from './upstream.ts';

/** A service without rate limits and with its control interface. Its log shows how fast Sluice sent. */
export interface Theatre {
  readonly world: World;
  readonly control: Control;
}

export async function openTheatre(scope: Scope): Promise<Theatre> {
  const company = { requests_per_second: 1000, requests_per_day: 1_000_000 };
  const world = await makeWorld({ scope, company, serve: ['--control-port', '0'] });
  return { world, control: await Control.of(world.folder) };
}

/** A user with one job, the source that the job reads, and an oracle for both. */
export interface Stage extends Theatre {
  readonly home: Home;
  readonly instance: string;
  readonly upstream: Upstream;
  readonly oracle: Oracle;
}

export interface StageGiven {
  readonly destination?: object;
  readonly job?: object;
  readonly top?: object;
  /** A base URL to use in place of the service's, such as a proxy's. */
  readonly url?: string;
  readonly allowance?: number;
  readonly scope?: Scope;
}

/** A separate stage for the running test or for another scope; nothing has been synced yet. */
export async function setStage({ world, control }: Theatre, given: StageGiven = {}): Promise<Stage> {
  const { allowance = 10_000, url = world.url, scope = forTest } = given;
  const upstream = await Upstream.open(scope);
  const instance = await world.instance('csv');
  const home = await world.home(scope);
  await home.config({
    destinations: { main: { url, api_key: adminKey, requests_per_day: allowance, ...given.destination } },
    sources: { api: { connector: 'simple_rest', url: upstream.url } },
    jobs: { rows: { source: 'api', query: '/rows.csv', format: 'csv', target: instance, ...given.job } },
    ...given.top,
  });
  const oracle = new Oracle({ world, control, home, instance, upstream, allowance });
  return { world, control, home, instance, upstream, oracle };
}

/** How to start a process that dies before the step with this name; if the name is '', it only lists its steps. */
export function dieAt({ home }: Pick<Stage, 'home'>, step: string): Start {
  const env = { STEPS_UNDER: join(home.folder, 'state'), STEPS_FILE: join(home.folder, 'steps'), DIE_AT: step };
  return { preload: ['die-at-step'], env };
}

/** The steps so far of the processes started by {@link dieAt}. */
export async function stepsOf({ home }: Pick<Stage, 'home'>): Promise<string[]> {
  return readSteps(join(home.folder, 'steps'));
}

/** The steps in a file, except for reports of progress after the first one: how many there are depends on the time. */
export async function readSteps(file: string): Promise<string[]> {
  const steps = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return steps.filter((step) => !/^say extract\.progressed #(?!1$)/.test(step));
}
