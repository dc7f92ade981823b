import { setTimeout as wait } from 'node:timers/promises';
import { answerTo, askFleetForReload, type ReloadAnswer } from '../../daemon/config/reload-answer.ts';
import { readProcesses } from '../../daemon/process/process-record.ts';
import { countOf } from '../../lib/count-text.ts';
import { placeOfProcess } from '../../state/processes/processes.ts';
import type { Store } from '../../state/store.ts';
import { exit } from '../exit.ts';
import { renderTable } from '../output/table.ts';

const pollMs = 200;
const shortHash = 12;

/** What became of a reload in one process of a fleet. */
export interface ProcessReload {
  readonly host: string;
  readonly pid: number;
  /** `ended`: the process ended before it answered. */
  readonly result: 'active' | 'refused' | 'no_answer' | 'ended';
  /** Absent without an answer. */
  readonly answer?: ReloadAnswer;
}

/** Asks all processes that share a state to reload their configs, and waits for their answers. */
export async function reloadFleet(store: Store, withinMs: number): Promise<ProcessReload[]> {
  const owners = (await readProcesses(store)).map(({ owner }) => owner);
  if (owners.length === 0) return [];
  const asked = await askFleetForReload(store);
  const answers = new Map<string, ReloadAnswer>();
  let isAlive = new Set(owners);
  for (const end = performance.now() + withinMs; performance.now() < end; await wait(pollMs)) {
    for (const owner of owners) {
      const answer = answers.has(owner) ? undefined : await answerTo(asked, { store, owner });
      if (answer !== undefined) answers.set(owner, answer);
    }
    const open = owners.filter((owner) => !answers.has(owner));
    if (open.length === 0) break;
    isAlive = new Set((await readProcesses(store)).map(({ owner }) => owner));
    if (!open.some((owner) => isAlive.has(owner))) break;
  }
  return owners.map((owner) => reloadOf(owner, { answer: answers.get(owner), isAlive: isAlive.has(owner) }));
}

function reloadOf(owner: string, seen: { answer: ReloadAnswer | undefined; isAlive: boolean }): ProcessReload {
  const { answer, isAlive } = seen;
  if (answer === undefined) return { ...placeOfProcess(owner), result: isAlive ? 'no_answer' : 'ended' };
  return { ...placeOfProcess(owner), result: answer.faults.length === 0 ? 'active' : 'refused', answer };
}

/** Whether processes that have reloaded their configs now use different ones. */
export function configsDiffer(reloads: readonly ProcessReload[]): boolean {
  const active = reloads.filter(({ result }) => result === 'active');
  return new Set(active.map(({ answer }) => answer?.config_sha256)).size > 1;
}

/** The exit code: 0 only if all processes that are still running use the same new config. */
export function reloadExit(reloads: readonly ProcessReload[]): number {
  const results = new Set(reloads.map(({ result }) => result));
  if (results.has('refused')) return exit.usage;
  return results.has('no_answer') || !results.has('active') || configsDiffer(reloads) ? exit.failed : exit.ok;
}

/** A table with one line for each process, followed by what is wrong. */
export function reloadLines(reloads: readonly ProcessReload[]): string[] {
  const columns = [
    { title: 'host' },
    { title: 'process', align: 'right' as const },
    { title: 'config' },
    {
      title: 'result',
      tone: (text: string) => (text.startsWith('active') ? ('good' as const) : ('bad' as const)),
    },
  ];
  const rows = reloads.map(({ host, pid, answer, result }) => [
    host,
    String(pid),
    answer?.config_sha256?.slice(0, shortHash) ?? '',
    resultText(result, answer),
  ]);
  const fix = 'The processes have loaded different configs. Copy the same file to all machines, then reload again.';
  return [renderTable(columns, rows, { widest: 120, paper: process.stdout }), ...(configsDiffer(reloads) ? [fix] : [])];
}

function resultText(result: ProcessReload['result'], answer: ReloadAnswer | undefined): string {
  if (result === 'no_answer') return 'no answer';
  if (answer === undefined) return 'the process has ended';
  const [fault] = answer.faults;
  const note = answer.note === undefined ? '' : `; ${answer.note}`;
  return fault === undefined
    ? `active, ${countOf(answer.jobs, 'job')}${note}`
    : `refused, ${countOf(answer.faults.length, 'error')}; the first: ${fault.code}: ${fault.message}`;
}
