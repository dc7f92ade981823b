import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Config } from '../../config/config.ts';
import type { Events } from '../../lib/events.ts';
import type { SluiceEvents } from '../events.ts';
import { classOf, Names } from './labels.ts';

type Facts<N extends keyof SluiceEvents> = SluiceEvents[N];

/** This label isn't called `job`, because Prometheus uses that name for the scrape job. */
const jobLabel = 'job_name';
const runBuckets = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000];
const requestBuckets = [0.03, 0.1, 0.3, 1, 3, 10, 30, 60];

export interface CountersOptions {
  readonly registry: Registry;
  readonly events: Events<SluiceEvents>;
  readonly config: () => Config;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Metrics that are counted from events, so that the data path contains no metrics code. Names and units follow
 * Prometheus conventions.
 */
export class Counters {
  readonly #config: () => Config;
  readonly #now: () => number;
  readonly #jobs = new Names();
  readonly #accounts = new Names();
  readonly #runs;
  readonly #attempts;
  readonly #runSeconds;
  readonly #rows;
  readonly #runBytes;
  readonly #payloads;
  readonly #sentBytes;
  readonly #published;
  readonly #requests;
  readonly #requestSeconds;
  readonly #throttled;
  readonly #lineSeconds;
  readonly #waits;
  readonly #skipped;
  readonly #reloads;
  readonly #tokens;
  readonly #alerts;
  readonly #refusedRoom;
  readonly #forgotten;
  readonly #sources = new Names();
  readonly #checks;

  constructor({ registry, events, config, now }: CountersOptions) {
    this.#config = config;
    this.#now = now;
    const registers = [registry];
    const counter = <const L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name: `sluice_${name}_total`, help, labelNames, registers });
    this.#runs = counter('runs', 'Finished runs by job and outcome.', jobLabel, 'result');
    this.#attempts = counter('attempts', 'Attempts started, including the first attempt of each run.', jobLabel);
    this.#rows = counter('run_rows', 'Rows in the results of runs.', jobLabel);
    this.#runBytes = counter('run_bytes', 'Bytes in the results of runs.', jobLabel);
    this.#payloads = counter('payloads', 'Payloads by job and result.', jobLabel, 'result');
    this.#sentBytes = counter('delivered_bytes', 'Bytes that the service accepted.', jobLabel);
    this.#requests = counter('requests', 'Requests to the service, by response class.', 'account', 'status_class');
    this.#throttled = counter(
      'throttled_requests',
      'Requests that the service rejected with 429, by limit.',
      'account',
      'limit',
    );
    this.#lineSeconds = counter(
      'pacing_seconds',
      'Time that requests waited in the send queue, in seconds.',
      'account',
    );
    this.#waits = counter('waits', 'Number of times that sending stopped, by reason.', 'account', 'reason');
    this.#skipped = counter('firings_skipped', 'Firings that were skipped.', jobLabel);
    this.#reloads = counter('config_reloads', 'Config reloads, accepted or refused.', 'result');
    this.#tokens = counter(
      'token_failures',
      'Failed token requests by result; "refused" means that a person must log in again.',
      'result',
    );
    this.#alerts = counter(
      'alert_messages',
      'Alert messages by channel and result; "failed" is retried, "given_up" is not.',
      'channel',
      'result',
    );
    this.#refusedRoom = counter(
      'disk_refusals',
      'Results that were not written because there was not enough disk space.',
    );
    this.#forgotten = counter(
      'forgotten_payloads',
      'Payloads kept for a rollback that were deleted to free disk space.',
    );
    this.#checks = counter('source_checks', 'Source checks by result.', 'source', 'result');
    this.#runSeconds = new Histogram({
      name: 'sluice_run_duration_seconds',
      help: 'Duration of runs, from the firing to the payload on disk (or to the end of a bulk refresh).',
      buckets: runBuckets,
      registers,
    });
    this.#requestSeconds = new Histogram({
      name: 'sluice_request_duration_seconds',
      help: 'Duration of requests to the service.',
      buckets: requestBuckets,
      registers,
    });
    this.#published = new Gauge({
      name: 'sluice_last_publish_timestamp_seconds',
      help: "When the job's instance was last known to show the job's newest data.",
      labelNames: [jobLabel],
      registers,
    });
    events.listen((...[name, facts]) => this.#handle(name, facts));
    this.#begin();
  }

  /** Sets the time (epoch milliseconds) of each job's last publication before this process started. */
  remember(job: string, at: number): void {
    this.#published.set({ [jobLabel]: this.#jobs.of(job) }, at / 1000);
  }

  /** Initializes the series with 0, because Prometheus doesn't see an increase if a series starts at 1. */
  #begin(): void {
    for (const name of this.#config().jobs.keys()) {
      const job = this.#jobs.of(name);
      this.#runs.inc({ [jobLabel]: job, result: 'failed' }, 0);
      this.#payloads.inc({ [jobLabel]: job, result: 'dead' }, 0);
      this.#payloads.inc({ [jobLabel]: job, result: 'quarantined' }, 0);
    }
  }

  #handle(name: keyof SluiceEvents, facts: object): void {
    const handler = this.#handlers[name] as ((facts: object) => void) | undefined;
    handler?.(facts);
  }

  readonly #handlers: { readonly [N in keyof SluiceEvents]?: (facts: Facts<N>) => void } = {
    'run.started': ({ job }) => this.#attempts.inc({ [jobLabel]: this.#jobs.of(job) }),
    'run.finished': (facts) => this.#run(facts),
    'payload.delivered': ({ job, bytes }) => {
      this.#settled(job, 'delivered');
      this.#sentBytes.inc({ [jobLabel]: this.#jobs.of(job) }, bytes);
      this.#publish(job);
    },
    'payload.unchanged': ({ job }) => {
      this.#settled(job, 'unchanged');
      this.#publish(job);
    },
    'payload.repeated': ({ job }) => this.#settled(job, 'repeated'),
    'payload.superseded': ({ job }) => this.#settled(job, 'superseded'),
    'payload.quarantined': ({ job }) => this.#settled(job, 'quarantined'),
    'payload.dead': ({ job }) => this.#settled(job, 'dead'),
    'payload.refused': ({ job }) => this.#settled(job, 'refused'),
    'request.sent': ({ account, milliseconds }) =>
      this.#lineSeconds.inc({ account: this.#account(account) }, milliseconds / 1000),
    'request.answered': (facts) => this.#request(facts),
    'quota.spent': ({ account }) => this.#waits.inc({ account: this.#account(account), reason: 'quota' }),
    'account.paused': ({ account }) => this.#waits.inc({ account: this.#account(account), reason: 'paused' }),
    'login.refused': ({ account }) => this.#waits.inc({ account: this.#account(account), reason: 'login' }),
    'firing.throttled': ({ job }) => this.#skipped.inc({ [jobLabel]: this.#jobs.of(job) }),
    'firing.skipped': ({ job, firings }) => this.#skipped.inc({ [jobLabel]: this.#jobs.of(job) }, firings),
    'extract.failed': ({ code }) => {
      if (code === 'DISK_LIMIT' || code === 'DISK_FULL') this.#refusedRoom.inc();
    },
    'payloads.forgotten': ({ payloads }) => this.#forgotten.inc(payloads),
    'source.answered': ({ source }) => this.#checks.inc({ source: this.#sources.of(source), result: 'answered' }),
    'source.failed': ({ source }) => this.#checks.inc({ source: this.#sources.of(source), result: 'failed' }),
    'config.reloaded': () => {
      this.#reloads.inc({ result: 'reloaded' });
      this.#begin();
    },
    'config.refused': () => this.#reloads.inc({ result: 'refused' }),
    'token.refused': () => this.#tokens.inc({ result: 'refused' }),
    'token.failed': () => this.#tokens.inc({ result: 'failed' }),
    'alert.sent': ({ channel }) => this.#alerts.inc({ channel, result: 'sent' }),
    'alert.unsent': ({ channel }) => this.#alerts.inc({ channel, result: 'failed' }),
    'alert.given_up': ({ channel }) => this.#alerts.inc({ channel, result: 'given_up' }),
    'heartbeat.failed': ({ channel }) => this.#alerts.inc({ channel, result: 'failed' }),
  };

  #run({ job, outcome, rows, bytes, milliseconds }: Facts<'run.finished'>): void {
    const label = this.#jobs.of(job);
    this.#runs.inc({ [jobLabel]: label, result: outcome });
    this.#rows.inc({ [jobLabel]: label }, rows);
    this.#runBytes.inc({ [jobLabel]: label }, bytes);
    this.#runSeconds.observe(milliseconds / 1000);
    if (outcome === 'unchanged' || outcome === 'refreshed') this.#publish(job);
  }

  #request({ account, status, milliseconds, limit: reached }: Facts<'request.answered'>): void {
    const label = { account: this.#account(account) };
    this.#requests.inc({ ...label, status_class: classOf(status) });
    for (const limit of ['second', 'day']) this.#throttled.inc({ ...label, limit }, reached === limit ? 1 : 0);
    this.#requestSeconds.observe(milliseconds / 1000);
  }

  #settled(job: string, result: string): void {
    this.#payloads.inc({ [jobLabel]: this.#jobs.of(job), result });
  }

  #publish(job: string): void {
    this.remember(job, this.#now());
  }

  /**
   * An account is labeled with the name of its first destination, because the account's own name may be a hash of
   * credentials.
   */
  #account(account: string): string {
    return this.#accounts.of(accountLabel(this.#config(), account));
  }
}

/** Returns the account's public name: the name of its first destination. */
export function accountLabel({ destinations }: Config, account: string): string {
  for (const { name, account: own } of destinations.values()) if (own === account) return name;
  return 'former';
}
