import { bytesText, countText, durationText, instantText } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import type { AccountUse, JobUse, Percentiles, SimulationReport } from './report.ts';

const right = { align: 'right' as const };
/** Maximum number of jobs to show, starting with jobs that have problems. `--json` lists all jobs. */
const maxJobs = 60;

/** Formats the report as text. */
export function simulationText(report: SimulationReport): string {
  return [headOf(report), jobsText(report), ...report.accounts.map(accountText), verdictOf(report)].join('\n\n');
}

function headOf({
  since,
  until,
  firings,
  runs,
  outbox,
  delivery_ms,
  faults,
  known_jobs,
  jobs,
}: SimulationReport): string {
  const outage =
    faults === undefined
      ? ''
      : `, faults, a one-hour service outage from ${instantText(faults.outage_at)}, a one-hour source outage from ${instantText(faults.source_outage_at)}`;
  const peakAt = outbox.peak_at === undefined ? '' : `, at ${instantText(outbox.peak_at)}`;
  const lines = [
    ['simulated', `${instantText(since)} to ${instantText(until)}${outage}`],
    [
      'sources',
      `not read; ${countText(known_jobs)} of ${countText(jobs.length)} jobs use their run history; the others use default assumptions`,
    ],
    [
      'firings',
      `${countText(firings.planned)}, ${countText(firings.overlaps)} of them while the job was still running; ${countText(firings.skipped)} skipped, ${countText(firings.throttled)} throttled`,
    ],
    ['late', spreadText(firings.late_ms)],
    [
      'runs',
      `${countText(runs.runs)}: ${countText(runs.delivered)} delivered, ${countText(runs.unchanged)} unchanged, ${countText(runs.superseded)} superseded, ${countText(runs.failed)} failed, ${countText(runs.dead)} dead, ${countText(runs.owed)} owed`,
    ],
    ['attempts', `${countText(runs.attempts)} retries of runs whose source failed`],
    ['sending', spreadText(delivery_ms)],
    ['requests', `${countText(runs.requests)}, ${countText(runs.retries)} of them repeated`],
    [
      'outbox',
      `at most ${countText(outbox.peak_payloads)} ${outbox.peak_payloads === 1 ? 'payload' : 'payloads'}, ${bytesText(outbox.peak_bytes)}${peakAt}`,
    ],
  ];
  return lines.map(([what, text]) => `${what!.padEnd(9)}  ${text}`).join('\n');
}

function spreadText({ p50, p99, max, job }: Percentiles): string {
  if (job === undefined) return '-';
  return `p50 ${durationText(p50)}, p99 ${durationText(p99)}, max ${durationText(max)} (${job})`;
}

function jobsText({ jobs }: SimulationReport): string {
  const shown = jobs.toSorted((a, b) => troubleOf(b) - troubleOf(a)).slice(0, maxJobs);
  const kept = jobs.filter((job) => shown.includes(job));
  const titles = [
    'firings',
    'throttled',
    'overlaps',
    'delivered',
    'unchanged',
    'failed',
    'owed',
    'requests',
    'repeated',
    'latest',
  ];
  const table = renderTable(
    [{ title: 'job' }, ...titles.map((title) => ({ title, ...right }))],
    kept.map((one) => [
      one.job,
      ...[one.firings, one.throttled, one.overlaps, one.delivered, one.unchanged, one.failed + one.dead, one.owed].map(
        countText,
      ),
      ...[one.requests, one.retries].map(countText),
      durationText(one.latest_ms),
    ]),
    { paper: process.stdout },
  );
  return jobs.length === kept.length ? table : `${table}\nand ${jobs.length - kept.length} more jobs; --json lists all`;
}

const troubleOf = ({ lost, failed, dead, owed, overlaps }: JobUse): number =>
  1_000_000 * (lost + owed) + 1000 * (failed + dead) + overlaps;

function accountText({ destinations, limit, days, peak, usage_queries }: AccountUse): string {
  const queries = usage_queries === 0 ? '' : `; ${countText(usage_queries)} in total for usage queries`;
  const title = `${destinations.join(', ')}: ${countText(limit)} requests a day for schedules; at most ${countText(peak.used)} used, on ${peak.day}${queries}`;
  const table = renderTable(
    [{ title: 'day in New York' }, { title: 'requests', ...right }, { title: 'used', ...right }, { title: '' }],
    days.map(({ day, used, ended }) => [
      day,
      countText(used),
      `${Math.round((100 * used) / limit)} %`,
      ended ? 'used up' : '',
    ]),
    { paper: process.stdout },
  );
  return `${title}\n${table}`;
}

function verdictOf({ fits, firings: { throttled }, trouble, next }: SimulationReport): string {
  const spared =
    throttled === 0 ? '' : `; the allowance would have covered the ${countText(throttled)} throttled firings too`;
  if (fits) return `fits: every job's newest result was delivered, and no allowance ran out${spared}`;
  const fixes = next.length === 0 ? '' : `\nnext: ${next.join('; or ')}`;
  return `does not fit: ${trouble.join('; ')}${fixes}`;
}
