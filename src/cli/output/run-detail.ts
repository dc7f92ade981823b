import { Problem } from '../../lib/problem.ts';
import { pastAttempts, spanOf } from '../../state/runs/past-attempts.ts';
import { warningsOf } from '../../state/runs/runs.ts';
import type { Store } from '../../state/store.ts';
import type { OutboxRow, RunRow } from '../../state/tables.ts';
import { bytesText, countOf, durationText, instantText } from './format.ts';
import { printable } from './table.ts';

/**
 * Returns the run with this ID. Throws if the state doesn't contain the run, because it never existed or was pruned.
 */
export async function findRun(id: string, store: Store | undefined): Promise<RunRow> {
  const row = await store?.runs.find(id);
  if (row !== undefined) return row;
  throw new Problem({
    code: 'CLI_UNKNOWN_RUN',
    family: 'config',
    message: 'Unknown run ID',
    seen: id,
    next: 'list all runs with sluice history',
  });
}

/** Everything known about one run, one fact per line. `payload` is the run's payload, if the run produced one. */
export function runDetail(run: RunRow, payload?: OutboxRow): string {
  const { id, job, origin, state, ended_at, row_count, bytes, requests, code } = run;
  const { started_at, took_ms } = spanOf(run);
  const { message, next, attempts } = run;
  const end = ended_at === null ? 'has not ended' : `ended ${instantText(ended_at)}`;
  const took = took_ms === null ? end : `took ${durationText(took_ms)}`;
  const size = [
    ...(row_count === null ? [] : [countOf(row_count, 'row')]),
    ...(bytes === null ? [] : [bytesText(bytes)]),
    countOf(requests, 'request'),
  ];
  const facts: readonly Fact[] = [
    ['job', job],
    ['run', id],
    ['trigger', origin === 'schedule' ? 'the schedule' : 'a person'],
    ['began', `${instantText(started_at)}, ${took}`],
    ...attemptFacts(run),
    ['result', attempts === 1 ? state : `${state} after ${countOf(attempts, 'attempt')}`],
    ['made', size.join(', ')],
    ...payloadFacts(payload),
    ['problem', message === null ? null : `${code ?? ''}: ${message}`],
    ['next', next],
    ...warningsOf(run).flatMap(({ code, message, seen, next }): Fact[] => [
      ['warning', `${code}: ${message}${seen === undefined ? '' : ` (${seen})`}`],
      ['next', next ?? null],
    ]),
    ['more', `sluice explain ${job}; its log lines have "run":"${id}"`],
  ];
  return facts.flatMap(([title, text]) => (text === null ? [] : [`${title.padEnd(9)}${printable(text)}`])).join('\n');
}

type Fact = readonly [title: string, text: string | null];

/** The attempts of a run that was retried. */
function attemptFacts(run: RunRow): readonly Fact[] {
  const failed = pastAttempts(run);
  if (failed.length === 0) return [];
  const ofFailed = failed.map(({ started_at, ended_at, code, message }): Fact => {
    const took = durationText(ended_at - started_at);
    return ['attempt', `${instantText(started_at)}, failed after ${took}: ${code ?? ''}: ${message ?? ''}`];
  });
  const isListed = failed.at(-1)!.started_at === run.started_at;
  return isListed ? ofFailed : [...ofFailed, ['attempt', `${instantText(run.started_at)}, the last`]];
}

/**
 * The payload's target, the hash that identifies the payload at the target, and the payload's file if someone must
 * decide about the payload.
 */
function payloadFacts(payload: OutboxRow | undefined): readonly Fact[] {
  if (payload === undefined) return [];
  const { destination, instance, sha256, attempts, state, path } = payload;
  return [
    ['target', `instance ${instance} at ${destination}, ${countOf(attempts, 'attempt')}`],
    ['sha256', sha256],
    ['file', state === 'dead' || state === 'quarantined' ? path : null],
  ];
}
