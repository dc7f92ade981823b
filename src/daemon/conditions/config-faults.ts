import { countOf } from '../../lib/count-text.ts';
import { type ActiveRecord, type RecordedFault, recordedFault } from '../config/config-record.ts';
import { reloadStep } from './after-edit.ts';
import type { Condition, Snapshot } from './condition.ts';

/**
 * Finds parts of the config that aren't active: jobs excluded because of errors, other errors, and a rejected reload.
 */
export function findConfigFaults({
  config,
  overview,
  taken,
}: Pick<Snapshot, 'config' | 'overview' | 'taken'>): Condition[] {
  const left = leftOutOf(config, taken);
  const since = taken?.at ?? overview.now;
  const others = (taken?.faults ?? []).filter((fault) => ![...left.values()].flat().some((one) => isSame(one, fault)));
  return [
    ...[...left].map(
      ([job, faults]): Condition => ({
        subject: `job:${job}`,
        kind: 'left_out',
        since,
        ...describeFaults(faults, findFaultOrigin(job, taken), reloadStep(overview)),
        jobs: [job],
        code: faults[0]?.code,
      }),
    ),
    ...(others.length === 0
      ? []
      : [
          conditionOf('config', {
            message: 'the daemon started without the parts of the config that have errors',
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

/**
 * Where a job's error comes from. `edit`: the file was edited after the daemon had read it without this error. `here`:
 * the daemon read the same text without this error, so this process lacks something that the daemon has, such as an
 * environment variable or the permission to read a secret.
 */
export type FaultOrigin = 'config' | 'edit' | 'here';

export function findFaultOrigin(job: string, taken: ActiveRecord | undefined): FaultOrigin {
  if (taken === undefined || taken.leftOut.some((one) => one.job === job)) return 'config';
  return taken.differs ? 'edit' : 'here';
}

function describeFaults(
  faults: readonly RecordedFault[],
  origin: FaultOrigin,
  reload: string,
): Pick<Condition, 'level' | 'what' | 'fix'> {
  const text = faultsText(faults);
  if (origin === 'here') {
    const what = `this command cannot read the job's config${text}; the daemon read the same file without this error`;
    return { level: 'warning', what, fix: "run the command as the daemon's user, with its environment variables" };
  }
  const next = faults[0]?.next;
  return {
    level: 'error',
    what:
      origin === 'edit'
        ? `the config file has an error${text}; the daemon keeps its current config`
        : `left out because of an error in the config${text}`,
    fix: `${next ?? 'run "sluice check", fix the file'}${reload}`,
  };
}

/** Returns the errors that the daemon recorded, and the file's errors that the daemon doesn't know about. */
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
    fix: 'run "sluice config show", fix the file, then run "sluice reload"',
  };
}

function faultsText([first, ...others]: readonly RecordedFault[]): string {
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : `, and ${countOf(others.length, 'more error')}`;
  return `: ${first.message} (${first.place})${more}`;
}
