import type { Config } from '../config/config.ts';
import { concerns } from '../daemon/conditions/condition.ts';
import { ConditionCache, readConditions } from '../daemon/conditions/read-conditions.ts';
import { explainJobs } from '../daemon/explain/explain.ts';
import { currentLinks } from '../daemon/explain/explain-links.ts';
import { readOverview } from '../daemon/report/overview.ts';
import { reportStatus } from '../daemon/report/report-status.ts';
import type { Clock } from '../lib/clock.ts';
import { html } from '../lib/html.ts';
import type { Store } from '../state/store.ts';
import { jobBody, leftOutBody } from './job-page.ts';
import { explicable, overviewBody, pageHeadline } from './overview-page.ts';
import { pageHeaders, pageOf } from './page.ts';

export interface ConsoleOptions {
  /** The active config. */
  readonly config: () => Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
}

/** The response to a page request. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Maximum number of jobs to explain in full. If more jobs need attention, most of them have the same cause. */
const maxExplained = 8;
const runsShown = 30;

/** The operator's console. Like the commands, it only reads the state. */
export class Console {
  readonly #given: ConsoleOptions;
  readonly #cache = new ConditionCache();

  constructor(given: ConsoleOptions) {
    this.#given = given;
  }

  /** Returns the page at a path such as `/` or `/jobs/orders`, or undefined if there's no such page. */
  async answer({ pathname, searchParams }: URL): Promise<PageAnswer | undefined> {
    const refreshes = !searchParams.has('still') && !searchParams.has('q');
    if (pathname === '/') return this.#overview(searchParams.get('q') ?? '', refreshes);
    const { job } = /^\/jobs\/(?<job>[^/]+)$/.exec(pathname)?.groups ?? {};
    return job === undefined ? undefined : this.#job(decoded(job), refreshes);
  }

  async #overview(search: string, refreshes: boolean): Promise<PageAnswer> {
    const { config, store, clock } = this.#given;
    const inForce = config();
    const overview = await readOverview(inForce, store, clock);
    const status = await reportStatus(inForce, store, clock, { overview, cache: this.#cache });
    const { now } = overview;
    const names = explicable(status).slice(0, maxExplained);
    const jobs = names.map((name) => inForce.jobs.get(name)).filter((job) => job !== undefined);
    const explained = await explainJobs(jobs, {
      config: inForce,
      store,
      clock,
      overview,
      conditions: status.conditions,
    });
    return this.#page({
      title: pageHeadline(status),
      body: overviewBody({ status, now, explained, search }),
      refreshes,
    });
  }

  async #job(name: string, refreshes: boolean): Promise<PageAnswer> {
    const { config, store, clock } = this.#given;
    const inForce = config();
    const job = inForce.jobs.get(name);
    if (job === undefined) return this.#missing(name);
    const overview = await readOverview(inForce, store, clock);
    const [explanations, history] = await Promise.all([
      explainJobs([job], { config: inForce, store, clock, overview, cache: this.#cache }),
      store.runs.history({ job: name, limit: runsShown }),
    ]);
    const given = { runs: currentLinks(history, overview), waiting: overview.waitingOf(name), now: overview.now };
    return this.#page({ title: name, body: jobBody({ explanation: explanations[0]!, ...given }), refreshes });
  }

  /** The page for a job that is unknown or was excluded because of an error. */
  async #missing(name: string): Promise<PageAnswer> {
    const { config, store, clock } = this.#given;
    const conditions = await readConditions(config(), store, { clock, cache: this.#cache });
    const left = conditions.find((one) => one.kind === 'left_out' && concerns(one, name));
    const body =
      left === undefined
        ? html`<h1>Unknown job “${name}”</h1><p>It is not in the active config. <a href="/">All jobs</a></p>`
        : leftOutBody(name, left);
    const title = left === undefined ? 'Unknown job' : name;
    return this.#page({ title, body, refreshes: false, status: 404 });
  }

  #page({
    status = 200,
    ...page
  }: {
    title: string;
    body: ReturnType<typeof html>;
    refreshes: boolean;
    status?: number;
  }): PageAnswer {
    const { version, clock } = this.#given;
    const headers = { 'content-type': 'text/html; charset=utf-8', ...pageHeaders };
    return { status, headers, text: pageOf({ ...page, version, now: clock.now() }) };
  }
}

/** Leaves invalid percent-encoding unchanged. The resulting name matches no job. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
