import type { Explanation } from '../daemon/explain-links.ts';
import type { AccountStatus } from '../daemon/report-accounts.ts';
import type { JobStatus, Status } from '../daemon/report-status.ts';
import { countOf, countText } from '../lib/count-text.ts';
import { type Html, html } from '../lib/html.ts';
import { instantText } from '../lib/time-text.ts';
import { command, instant, jobLink, mending, standing } from './figures.ts';
import { firesIn, type Standing, standingOf } from './standing.ts';

export interface OverviewGiven {
  readonly status: Status;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Of the jobs that need somebody, as many as are told in full. */
  readonly explained: readonly Explanation[];
  /** Part of a name: only jobs that have it are listed. */
  readonly sought: string;
}

/** A longer table helps nobody; the rest is found by name. */
const mostRows = 200;

/** All jobs at one look: first what needs a person and how to mend it, then everything else. */
export function overviewBody({ status, now, explained, sought }: OverviewGiven): Html {
  const ranked = rankJobs(status, now);
  const bad = ranked.filter(({ kind }) => kind === 'bad').length;
  return html`
<h1 class="${bad > 0 ? 'bad' : ''}">${headline(ranked.length, bad)}</h1>
${daemonWords(status, now)}
${explained.map(trouble)}
${bad > explained.length ? html`<p class="soft">and ${countText(bad - explained.length)} more, first in the table</p>` : undefined}
${others(status)}
${jobTable(ranked, { now, sought })}
<h2>Requests of the day</h2>
${status.accounts.map((account) => accountCard(account, now))}`;
}

interface Ranked {
  readonly job: JobStatus;
  readonly kind: Standing;
}

const order: readonly Standing[] = ['bad', 'wait', 'good', 'idle'];

/** What needs somebody comes first; the rest keeps the order of the config. */
export function rankJobs(status: Status, now: number): Ranked[] {
  const fires = firesIn(status);
  const ranked = status.jobs.map((job) => ({ job, kind: standingOf(job, { now, fires }) }));
  return order.flatMap((kind) => ranked.filter((one) => one.kind === kind));
}

function headline(jobs: number, bad: number): string {
  if (jobs === 0) return 'The config has no job.';
  if (bad > 0) return `${countText(bad)} of ${countOf(jobs, 'job needs', 'jobs need')} somebody.`;
  return jobs === 1 ? 'The job needs nobody.' : `None of ${countText(jobs)} jobs needs anybody.`;
}

function daemonWords({ daemon }: Status, now: number): Html {
  if (daemon === undefined)
    return html`<p class="bad">No daemon runs on this state folder. ${command('sluice run')}</p>`;
  const edited =
    daemon.config?.differs === true
      ? html` Its config was edited since ${instantText(daemon.config.at)}: ${command('sluice check')}, then SIGHUP puts it in force.`
      : undefined;
  const stopped =
    daemon.stopped === undefined
      ? undefined
      : html`<p class="bad">Its schedules have stopped: ${daemon.stopped}. Restart it.</p>`;
  return html`<p class="soft">The daemon (${daemon.owner}) took over ${instant(daemon.since, now)}.${edited}</p>${stopped}`;
}

function trouble({ job, verdict, because, mend }: Explanation): Html {
  const [newest] = because;
  return html`<section class="card bad"><h3>${jobLink(job)}: ${verdict}</h3>
${newest === undefined ? undefined : html`<p>${newest.says}</p>`}
${mend === undefined ? undefined : html`<p>Mend: ${mending(mend)}</p>`}</section>`;
}

/** What is wrong beside jobs: logins, alerts, payloads of jobs that are gone. */
function others({ logins, alerts, stranded }: Status): Html[] {
  const open = alerts?.open ?? 0;
  return [
    ...logins.map(
      ({ sources, message, next }) =>
        html`<section class="card bad"><h3>Needs a login: ${sources.join(', ')}</h3>${message === undefined ? undefined : html`<p>${message}</p>`}<p>Mend: ${command(next)}</p></section>`,
    ),
    ...(open === 0 ? [] : [html`<p>${countOf(open, 'alert is', 'alerts are')} open: ${command('sluice alerts')}</p>`]),
    ...(alerts?.failing ?? []).map(
      ({ channel, problem }) =>
        html`<section class="card bad"><h3>The alert channel ${channel} takes no messages</h3><p>${problem}</p><p>Once mended: ${command(`sluice alerts test ${channel}`)}</p></section>`,
    ),
    ...stranded.map(
      ({ job, payloads, destination, deliverable }) =>
        html`<p>${countOf(payloads, 'payload is', 'payloads are')} owed by job ${job}, which the config does not have any more${deliverable ? '' : html`, to destination ${destination}, which it does not have either`}.</p>`,
    ),
  ];
}

function jobTable(ranked: readonly Ranked[], { now, sought }: { now: number; sought: string }): Html | undefined {
  if (ranked.length === 0) return undefined;
  const found = ranked.filter(({ job }) => job.job.toLowerCase().includes(sought.toLowerCase()));
  const rows = found.slice(0, mostRows).map((one) => jobRow(one, now));
  const more = found.length - rows.length;
  return html`<h2>Jobs</h2>
<form><input type="search" name="q" value="${sought}" placeholder="part of a name" aria-label="part of a job's name"></form>
<div class="wide"><table><thead><tr><th>job</th><th>state</th><th>shows data as of</th><th class="later">next firing</th><th class="later">last problem</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${more > 0 ? html`<p class="soft">and ${countText(more)} more; a part of the name finds them</p>` : undefined}
${found.length === 0 ? html`<p>No job has “${sought}” in its name. <a href="/">All jobs</a></p>` : undefined}`;
}

function jobRow({ job, kind }: Ranked, now: number): Html {
  const words = job.enabled ? job.state : `${job.state} (disabled)`;
  const problem = job.owed[0]?.message ?? job.last_run?.message ?? job.stretched?.says ?? '';
  return html`<tr><td>${jobLink(job.job)}</td><td>${standing(kind, words)}</td><td class="time">${instant(job.last_delivered_at, now)}</td>
<td class="time later">${instant(job.next_firing_at, now)}</td><td class="words later">${problem}</td></tr>
`;
}

function accountCard(account: AccountStatus, now: number): Html {
  const { destinations, used, others: byOthers, limit, day, turns_at, spent_until } = account;
  const spent =
    spent_until === undefined
      ? undefined
      : html`<p class="bad">The service says that nothing is left until ${instant(spent_until, now)}.</p>`;
  return html`<section class="card"><h3>${destinations.join(', ')}</h3>
<meter min="0" max="${limit}" high="${Math.floor(limit * 0.9)}" value="${Math.min(used, limit)}">${used} of ${limit}</meter>
<p>${countText(used)} of ${countText(limit)} used${byOthers === 0 ? '' : `, ${countText(byOthers)} of them by others`} on ${day} (New York); the day turns ${instant(turns_at, now)}.</p>${spent}</section>`;
}
