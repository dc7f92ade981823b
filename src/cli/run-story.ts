import { Problem } from '../lib/problem.ts';
import { warningsOf } from '../state/runs.ts';
import type { Store } from '../state/store.ts';
import type { RunRow } from '../state/tables.ts';
import { bytesText, countText, durationText, instantText } from './figures.ts';
import { printable } from './table.ts';

/** The run of this id. Throws where the state knows none: there never was one, or it has been forgotten. */
export async function findRun(id: string, store: Store | undefined): Promise<RunRow> {
  const row = await store?.runs.find(id);
  if (row !== undefined) return row;
  throw new Problem({
    code: 'CLI_UNKNOWN_RUN',
    family: 'config',
    message: 'There is no run of this id in the history',
    seen: id,
    next: 'sluice history lists those that there are',
  });
}

/** All that is known of one run, a line each. */
export function runStory(run: RunRow): string {
  const { id, job, origin, state, started_at, ended_at, row_count, bytes, requests, code, message, next } = run;
  const took = ended_at === null ? 'has not ended' : `took ${durationText(ended_at - started_at)}`;
  const size = [
    ...(row_count === null ? [] : [`${countText(row_count)} rows`]),
    ...(bytes === null ? [] : [bytesText(bytes)]),
    `${countText(requests)} requests`,
  ];
  const facts: readonly (readonly [string, string | null])[] = [
    ['job', job],
    ['run', id],
    ['asked by', origin === 'schedule' ? 'the schedule' : 'a person'],
    ['began', `${instantText(started_at)}, ${took}`],
    ['result', state],
    ['made', size.join(', ')],
    ['problem', message === null ? null : `${code ?? ''}: ${message}`],
    ['next', next],
    ...warningsOf(run).flatMap(({ code, message, seen, next }): (readonly [string, string | null])[] => [
      ['warning', `${code}: ${message}${seen === undefined ? '' : ` (${seen})`}`],
      ['next', next ?? null],
    ]),
    ['more', `sluice explain ${job}; its log lines have "run":"${id}"`],
  ];
  return facts.flatMap(([title, text]) => (text === null ? [] : [`${title.padEnd(9)}${printable(text)}`])).join('\n');
}
