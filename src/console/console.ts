import type { Config } from '../config/config.ts';
import { concerns } from '../daemon/conditions/condition.ts';
import { ConditionCache, readConditions } from '../daemon/conditions/read-conditions.ts';
import { explainJobs } from '../daemon/explain.ts';
import { asTheyAre } from '../daemon/explain-links.ts';
import { readOverview } from '../daemon/overview.ts';
import { reportStatus } from '../daemon/report-status.ts';
import type { Clock } from '../lib/clock.ts';
import { html } from '../lib/html.ts';
import type { Store } from '../state/store.ts';
import { jobBody, leftOutBody } from './job-page.ts';
import { explicable, overviewBody, pageHeadline } from './overview-page.ts';
import { pageHeaders, pageOf } from './page.ts';

export interface ConsoleGiven {
  /** The one in force. */
  readonly config: () => Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly version: string;
}

/** What is answered to a request for a page. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** So many troubles are told in full; a storm of them has one cause mostly, and is not read to its end. */
const mostExplained = 8;
const runsShown = 30;

/** The operator's pages: they read the state as the commands do, ask nobody, and change nothing. */
export class Console {
  readonly #given: ConsoleGiven;
  readonly #cache = new ConditionCache();

  constructor(given: ConsoleGiven) {
    this.#given = given;
  }

  /** The page at a path such as `/` or `/jobs/orders`; undefined where there is none. */
  async answer({ pathname, searchParams }: URL): Promise<PageAnswer | undefined> {
    const refreshes = !searchParams.has('still') && !searchParams.has('q');
    if (pathname === '/') return this.#overview(searchParams.get('q') ?? '', refreshes);
    const { job } = /^\/jobs\/(?<job>[^/]+)$/.exec(pathname)?.groups ?? {};
    return job === undefined ? undefined : this.#job(decoded(job), refreshes);
  }

  async #overview(sought: string, refreshes: boolean): Promise<PageAnswer> {
    const { config, store, clock } = this.#given;
    const inForce = config();
    const overview = await readOverview(inForce, store, clock);
    const status = await reportStatus(inForce, store, clock, { overview, cache: this.#cache });
    const { now } = overview;
    const names = explicable(status).slice(0, mostExplained);
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
      body: overviewBody({ status, now, explained, sought }),
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
    const given = { runs: asTheyAre(history, overview), waiting: overview.waitingOf(name), now: overview.now };
    return this.#page({ title: name, body: jobBody({ explanation: explanations[0]!, ...given }), refreshes });
  }

  /** A job that is not in force: left out for a fault, or unknown. */
  async #missing(name: string): Promise<PageAnswer> {
    const { config, store, clock } = this.#given;
    const conditions = await readConditions(config(), store, { clock, cache: this.#cache });
    const left = conditions.find((one) => one.kind === 'left_out' && concerns(one, name));
    const body =
      left === undefined
        ? html`<h1>No job “${name}”</h1><p>The config in force does not have it. <a href="/">All jobs</a></p>`
        : leftOutBody(name, left);
    const title = left === undefined ? 'No such job' : name;
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

/** A path that is no text names no job. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
