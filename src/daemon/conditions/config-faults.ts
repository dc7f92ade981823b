import { countOf } from '../../lib/count-text.ts';
import { type ActiveRecord, type RecordedFault, recordedFault } from '../config/config-record.ts';
import type { Condition, Snapshot } from './condition.ts';

const fix = 'sluice config show; fix the file, then sluice reload';

/** Parts of the config that aren't active: jobs left out because of errors, other errors, a rejected reload. */
export function findConfigFaults({
  config,
  overview,
  taken,
}: Pick<Snapshot, 'config' | 'overview' | 'taken'>): Condition[] {
  const left = leftOutOf(config, taken);
  const since = taken?.at ?? overview.now;
  const others = (taken?.faults ?? []).filter((fault) => ![...left.values()].flat().some((one) => isSame(one, fault)));
  return [
    ...[...left].map(([job, faults]): Condition => {
      const [fault] = faults;
      return {
        subject: `job:${job}`,
        kind: 'left_out',
        level: 'error',
        since,
        what: isInFileOnly(job, taken)
          ? `the config file has an error${faultsText(faults)}; the daemon keeps its current config`
          : `left out because of an error in the config${faultsText(faults)}`,
        jobs: [job],
        code: fault?.code,
        fix:
          fault?.next === undefined
            ? 'sluice check; fix the file, then sluice reload'
            : `${fault.next}; then sluice reload`,
      };
    }),
    ...(others.length === 0
      ? []
      : [
          conditionOf('config', {
            message: 'the daemon started without the parts that have errors',
            faults: others,
            at: since,
          }),
        ]),
    ...(taken?.refused === undefined
      ? []
      : [
          conditionOf('reload_refused', {
            message: 'a reload was rejected; the previous config stays active',
            ...taken.refused,
          }),
        ]),
  ];
}

/** Whether a job's error is only in the file, because the job in the daemon's active config has no errors. */
export function isInFileOnly(job: string, taken: ActiveRecord | undefined): boolean {
  return taken !== undefined && !taken.leftOut.some((one) => one.job === job);
}

/** Errors that the daemon recorded, and errors in the file that the daemon doesn't know about. */
function leftOutOf(
  { leftOut }: Snapshot['config'],
  taken: ActiveRecord | undefined,
): Map<string, readonly RecordedFault[]> {
  const here = [...(leftOut ?? [])].map(([job, problems]) => [job, problems.map(recordedFault)] as const);
  const there = (taken?.leftOut ?? []).map(({ job, faults }) => [job, faults] as const);
  return new Map([...here, ...there]);
}

const isSame = (a: RecordedFault, b: RecordedFault): boolean =>
  a.code === b.code && a.place === b.place && a.message === b.message;

function conditionOf(
  kind: 'config' | 'reload_refused',
  { message, faults, at }: { readonly message: string; readonly faults: readonly RecordedFault[]; readonly at: number },
): Condition {
  const [first] = faults;
  return {
    subject: 'config',
    kind,
    level: 'error',
    since: at,
    what: `${message}${faultsText(faults)}`,
    jobs: [],
    code: first?.code,
    fix,
  };
}

function faultsText([first, ...others]: readonly RecordedFault[]): string {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${countOf(others.length, 'more error')}`;
  return `: ${first.message} (${first.place})${more}`;
}
