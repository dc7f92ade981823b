import type { Condition } from '../daemon/conditions/condition.ts';
import { affectedJobs, headlineOf } from '../daemon/conditions/headline.ts';
import type { Explanation } from '../daemon/explain/explain-links.ts';
import type { JobStatus } from '../daemon/report/job-status.ts';
import type { AccountStatus } from '../daemon/report/report-accounts.ts';
import type { Status } from '../daemon/report/report-status.ts';
import { countText } from '../lib/count-text.ts';
import { type Html, html } from '../lib/html.ts';
import { instantText } from '../lib/time-text.ts';
import { command, fixing, instant, jobLink, standing } from './figures.ts';
import { processTable } from './process-table.ts';
import { type Standing, standingsOf } from './standing.ts';

export interface OverviewPageOptions {
  readonly status: Status;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The jobs that need attention. These jobs are shown in full. */
  readonly explained: readonly Explanation[];
  /** If set, only jobs whose names contain this text are shown. */
  readonly search: string;
}

/** Maximum number of table rows. A longer table isn't useful, and users can find the other jobs with the search. */
const maxRows = 200;
const maxCards = 20;

/** Shows all jobs on one page: first the jobs that need attention, with fixes, then the others. */
export function overviewBody({ status, now, explained, search }: OverviewPageOptions): Html {
  const { conditions } = status;
  const bad = explicable(status).length;
  const isBad = conditions.some(({ level }) => level === 'error');
  return html`
<h1 class="${isBad ? 'bad' : ''}">${pageHeadline(status)}</h1>
${daemonWords(status, now)}
${explained.map(trouble)}
${bad > explained.length ? html`<p class="soft">and ${countText(bad - explained.length)} more at the top of the table</p>` : undefined}
${conditions.filter(isApart).slice(0, maxCards).map(conditionCard)}
${jobTable(rankJobs(status), { status, now, search })}
${processTable(status, now)}<h2>Requests today</h2>
${status.accounts.map((account) => accountCard(account, now))}`;
}

/** Summarizes the overall state in one line. */
export function pageHeadline({ conditions, jobs, left_out }: Status): string {
  return headlineOf(conditions, [...jobs.map(({ job }) => job), ...left_out]);
}

/** Returns the jobs that need attention. */
export function explicable({ conditions, jobs }: Status): string[] {
  const bad = affectedJobs(conditions, 'error');
  return jobs.map(({ job }) => job).filter((job) => bad.has(job));
}

/** The conditions that aren't shown on any job's card. */
const isApart = ({ subject, kind }: Condition): boolean => kind === 'left_out' || !subject.startsWith('job:');

function conditionCard({ subject, kind, level, what, fix, jobs }: Condition): Html {
  const title = kind === 'left_out' ? jobLink(jobs[0] ?? '') : html`${subject.replace(':', ' ')}`;
  return html`<section class="card ${level === 'error' ? 'bad' : ''}"><h3>${title}</h3><p>${what}</p>
${fix === undefined ? undefined : html`<p>Fix: ${fixing(fix)}</p>`}</section>`;
}

interface Ranked {
  readonly job: JobStatus;
  readonly kind: Standing;
}

const order: readonly Standing[] = ['bad', 'wait', 'good', 'idle'];

/** Sorts the jobs that need attention first. The other jobs keep the config's order. */
export function rankJobs(status: Status): Ranked[] {
  const standing = standingsOf(status);
  const ranked = status.jobs.map((job) => ({ job, kind: standing(job) }));
  return order.flatMap((kind) => ranked.filter((one) => one.kind === kind));
}

function daemonWords({ daemon }: Status, now: number): Html {
  if (daemon === undefined)
    return html`<p class="bad">No daemon is running for this state. ${command('sluice run')}</p>`;
  const edited =
    daemon.config?.differs === true && daemon.config.refused === undefined
      ? html` The config file was edited since ${instantText(daemon.config.at)}: ${command('sluice check')}, then ${command('sluice reload')}.`
      : undefined;
  return html`<p class="soft">The daemon (${daemon.owner}) started ${instant(daemon.since, now)}.${edited}</p>`;
}

function trouble({ job, verdict, because, fix }: Explanation): Html {
  const [newest] = because;
  return html`<section class="card bad"><h3>${jobLink(job)}: ${verdict}</h3>
${newest === undefined ? undefined : html`<p>${newest.message}</p>`}
${fix === undefined ? undefined : html`<p>Fix: ${fixing(fix)}</p>`}</section>`;
}

function jobTable(
  ranked: readonly Ranked[],
  { status, now, search }: { status: Status; now: number; search: string },
): Html | undefined {
  if (ranked.length + status.left_out.length === 0) return undefined;
  const matches = (job: string): boolean => job.toLowerCase().includes(search.toLowerCase());
  const left = status.left_out.filter(matches).map(leftOutRow);
  const found = [...left, ...ranked.filter(({ job }) => matches(job.job)).map((one) => jobRow(one, now))];
  const rows = found.slice(0, maxRows);
  const more = found.length - rows.length;
  return html`<h2>Jobs</h2>
<form><input type="search" name="q" value="${search}" placeholder="part of a name" aria-label="part of a job's name"></form>
<div class="wide"><table><thead><tr><th>job</th><th>state</th><th>shows data as of</th><th class="later">next run</th><th class="later">last problem</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${more > 0 ? html`<p class="soft">and ${countText(more)} more; search by name to find them</p>` : undefined}
${found.length === 0 ? html`<p>No job matches “${search}”. <a href="/">All jobs</a></p>` : undefined}`;
}

const leftOutRow = (job: string): Html =>
  html`<tr><td>${jobLink(job)}</td><td>${standing('bad', 'left out because of an error')}</td><td class="time">–</td><td class="time later">–</td><td class="words later"></td></tr>
`;

function jobRow({ job, kind }: Ranked, now: number): Html {
  const words = job.enabled ? job.state : `${job.state} (disabled)`;
  const problem = job.owed[0]?.message ?? job.last_run?.message ?? job.throttled?.message ?? '';
  return html`<tr><td>${jobLink(job.job)}</td><td>${standing(kind, words)}</td><td class="time">${instant(job.last_delivered_at, now)}</td>
<td class="time later">${instant(job.next_run_at, now)}</td><td class="words later">${problem}</td></tr>
`;
}

function accountCard(account: AccountStatus, now: number): Html {
  const { destinations, used, others: byOthers, limit, day, turns_at, spent_until, sender } = account;
  const spent =
    spent_until === undefined
      ? undefined
      : html`<p class="bad">The service reports no requests left until ${instant(spent_until, now)}.</p>`;
  return html`<section class="card"><h3>${destinations.join(', ')}</h3>
<meter min="0" max="${limit}" high="${Math.floor(limit * 0.9)}" value="${Math.min(used, limit)}">${used} of ${limit}</meter>
<p>${countText(used)} of ${countText(limit)} used${byOthers === 0 ? '' : ` (${countText(byOthers)} by other programs)`} on ${day} (New York); the allowance resets ${instant(turns_at, now)}.${sender === undefined ? '' : ` Now sending: ${sender}.`}</p>${spent}</section>`;
}
