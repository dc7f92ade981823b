import type { Config } from '../../config/config.ts';
import { keyOf } from '../../state/outbox/instance-key.ts';
import type { Store } from '../../state/store.ts';
import type { OutboxRow } from '../../state/tables.ts';
import { type Condition, concerns } from '../conditions/condition.ts';
import { type FaultOrigin, findFaultOrigin } from '../conditions/config-faults.ts';
import { readRecord } from '../config/config-record.ts';
import type { Overview } from '../report/overview.ts';
import { currentLinks, type Explanation, ended, hinderedBy, type Link, owedAt, troubleOf } from './explain-links.ts';

interface LeftOutOptions {
  readonly config: Config;
  readonly store: Store | undefined;
  readonly overview: Overview;
  readonly conditions: readonly Condition[];
}

/**
 * Explains a job whose config can't be used, for example because a required environment variable isn't set. Uses only
 * the state, which contains the job's last payload and its target.
 */
export async function explainLeftOut(
  job: string,
  { config, store, overview, conditions }: LeftOutOptions,
): Promise<Explanation> {
  const fault = conditions.find((one) => one.kind === 'left_out' && concerns(one, job));
  const facts = fault === undefined ? [] : [{ at: fault.since, message: fault.what, ...codeOf(fault) }];
  const fix = fault?.fix === undefined ? {} : { fix: fault.fix };
  if (store === undefined) {
    return {
      job,
      verdict: leftOut,
      because: [...facts, { message: 'the job has never run here' }],
      next: nothing,
      ...fix,
    };
  }
  const runs = currentLinks(await store.runs.history({ job, limit: runsLookedAt }), overview);
  const waiting = overview.waitingOf(job);
  const delivered = runs.find(({ state }) => state === 'delivered');
  const payload = waiting.at(-1) ?? (delivered && (await store.outbox.ofRun(delivered.id)));
  const firing = await store.schedules.find(job);
  const origin = await originOf(job, { config, store, overview });
  const isActive = (runs.length > 0 || firing !== undefined) && origin !== 'config';
  return {
    job,
    ...(payload === undefined ? {} : await shownBy(payload, store)),
    verdict: isActive ? verdicts[origin] : leftOut,
    because: [
      ...facts,
      ...standingOf(job, overview),
      ...waiting.map(waitingLink),
      ...runs
        .filter(({ state }) => state !== 'running')
        .slice(0, 1)
        .map(ended),
      ...(runs.length === 0 ? [{ message: 'the job has never run here' }] : []),
    ],
    next: isActive && firing !== undefined ? { at: firing.next_at, message: 'runs on schedule' } : nothing,
    ...fix,
  };
}

/** Maximum number of runs to read. Older runs reveal little about the data that is shown now. */
const runsLookedAt = 50;

const leftOut = 'left out because of an error in the config';
const verdicts: Readonly<Record<Exclude<FaultOrigin, 'config'>, string>> = {
  edit: 'the config file has an error; the daemon runs the job with the previous config',
  here: "the daemon runs the job, but this command cannot read the job's config",
};
const nothing: Link = { message: 'nothing: the error must be fixed first' };

const codeOf = ({ code }: Condition) => (code === undefined ? {} : { code });

async function originOf(
  job: string,
  { config, store, overview: { daemon } }: { config: Config; store: Store; overview: Overview },
): Promise<FaultOrigin> {
  const taken = daemon && (await readRecord(store, daemon.owner));
  return findFaultOrigin(job, taken?.file === config.file ? taken : undefined);
}

async function shownBy(
  payload: OutboxRow,
  store: Store,
): Promise<Pick<Explanation, 'instance' | 'shows_as_of' | 'in_doubt'>> {
  const receipt = await store.receipts.find(keyOf(payload));
  const { instance } = payload;
  if (receipt === undefined || receipt.at === 0) return { instance };
  return { instance, shows_as_of: receipt.as_of, ...(receipt.certain === 0 ? { in_doubt: true } : {}) };
}

/** Returns what the job is doing or what it's waiting for. */
function standingOf(job: string, overview: Overview): Link[] {
  const hold = overview.hold(job);
  const attempt = overview.nextAttempt(job);
  const since = overview.runningSince(job);
  return [
    ...(hold === undefined
      ? []
      : [{ at: hold.since, message: `${hold.who} put the job on hold${hold.why === '' ? '' : `: ${hold.why}`}` }]),
    ...(since === undefined ? [] : [{ at: since, message: 'a run is in progress' }]),
    ...(attempt === undefined ? [] : [{ at: attempt.since, message: `the last run failed; ${attempt.message}` }]),
  ];
}

function waitingLink(row: OutboxRow): Link {
  if (row.state === 'quarantined') return troubleOf(row, 'a guard quarantined the payload');
  if (row.state === 'dead') return troubleOf(row, 'the service rejected the payload');
  return row.code === null ? owedAt(row) : troubleOf(row, hinderedBy(row));
}
