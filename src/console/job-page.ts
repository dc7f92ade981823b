import type { Condition } from '../daemon/conditions/condition.ts';
import type { Explanation, Link } from '../daemon/explain/explain-links.ts';
import { countText } from '../lib/count-text.ts';
import { type Html, html } from '../lib/html.ts';
import { durationText } from '../lib/time-text.ts';
import { spanOf } from '../state/runs/past-attempts.ts';
import type { OutboxRow, RunRow } from '../state/tables.ts';
import { command, fixing, instant, standing, word } from './figures.ts';
import type { Standing } from './standing.ts';

export interface JobPageOptions {
  readonly explanation: Explanation;
  /** The job's runs, newest first. */
  readonly runs: readonly RunRow[];
  /** The job's owed, quarantined and dead payloads. */
  readonly waiting: readonly OutboxRow[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The page for one job: the reason for the target's current data, the job's pending payloads and its latest runs. */
export function jobBody({ explanation, runs, waiting, now }: JobPageOptions): Html {
  const { job, instance, shows_as_of, in_doubt, verdict, because, next, fix } = explanation;
  const shows =
    shows_as_of === undefined ? html`no data delivered from this state` : html`data as of ${instant(shows_as_of, now)}`;
  const doubt = in_doubt === true ? ', possibly newer: it is unknown whether a later upload arrived' : '';
  return html`<h1>${job}: ${verdict}</h1>
<dl>${fix === undefined ? undefined : html`<dt>fix</dt><dd>${fixing(fix)}</dd>`}
${instance === undefined ? undefined : html`<dt>target</dt><dd>instance ${word(instance)}</dd><dt>shows</dt><dd>${shows}${doubt}</dd>`}
<dt>because</dt><dd><ol class="chain">${because.map((link) => html`<li>${linkWords(link, now)}</li>`)}</ol></dd>
${next === undefined ? undefined : html`<dt>next</dt><dd>${linkWords(next, now)}</dd>`}</dl>
${waiting.length === 0 ? undefined : html`<h2>Pending payloads</h2>${waiting.map((row) => waitingCard(row, now))}`}
<h2>Runs</h2>
${runs.length === 0 ? html`<p>No runs yet.</p>` : runTable(runs, now)}
<p class="soft">More: ${command(`sluice history ${job}`)}, ${command(`sluice rollback ${job} --list`)}</p>`;
}

/** The page for a job that was excluded because of an error. */
export function leftOutBody(name: string, { what, code, fix }: Condition): Html {
  return html`<h1 class="bad">${name}: left out</h1><p>${what}${code === undefined ? undefined : html` <span class="soft">${code}</span>`}</p>
${fix === undefined ? undefined : html`<p>Fix: ${fixing(fix)}</p>`}<p><a href="/">All jobs</a></p>`;
}

const linkWords = ({ at, message, code }: Link, now: number): Html =>
  html`${message}${code === undefined ? undefined : html` <span class="soft">${code}</span>`}${at === undefined ? undefined : html` <span class="soft">(${instant(at, now)})</span>`}`;

const commands: Readonly<Record<string, readonly string[]>> = {
  quarantined: ['sluice quarantine show', 'sluice quarantine approve', 'sluice quarantine discard'],
  dead: ['sluice dead show', 'sluice dead send'],
};

function waitingCard(
  { state, job, row_count, bytes, as_of, attempts, message, next_attempt_at }: OutboxRow,
  now: number,
): Html {
  const kind: Standing = state === 'owed' ? 'wait' : 'bad';
  const words = { owed: 'owed', quarantined: 'quarantined by a guard', dead: 'refused by the service' }[
    state as 'owed'
  ];
  return html`<section class="card"><p>${standing(kind, words)}: ${countText(row_count)} rows, ${countText(bytes)} bytes, as of ${instant(as_of, now)}${attempts === 0 ? '' : `, ${countText(attempts)} attempts`}</p>
${message === null ? undefined : html`<p>${message}</p>`}
${state !== 'owed' || next_attempt_at === null ? undefined : html`<p>Next attempt ${instant(next_attempt_at, now)}.</p>`}
${(commands[state] ?? []).map((one) => html`<p>${command(`${one} ${job}`)}</p>`)}</section>`;
}

const kinds: Partial<Record<RunRow['state'], Standing>> = {
  running: 'wait',
  retrying: 'wait',
  owed: 'wait',
  superseded: 'idle',
  discarded: 'idle',
  failed: 'bad',
  interrupted: 'bad',
  dead: 'bad',
  quarantined: 'bad',
};

function runTable(runs: readonly RunRow[], now: number): Html {
  return html`<div class="wide"><table><thead><tr><th>started</th><th>result</th><th>rows</th><th class="later">took</th><th>problem</th><th class="later">run</th></tr></thead>
<tbody>${runs.map((run) => runRow(run, now))}</tbody></table></div>`;
}

function runRow(run: RunRow, now: number): Html {
  const { id, state, row_count, message, next, attempts } = run;
  const { started_at, took_ms } = spanOf(run);
  const result = attempts === 1 ? state : `${state}, ${countText(attempts)} attempts`;
  const took = took_ms === null ? '–' : durationText(took_ms);
  return html`<tr><td class="time">${instant(started_at, now)}</td><td>${standing(kinds[state] ?? 'good', result)}</td>
<td class="number">${row_count === null ? '–' : countText(row_count)}</td><td class="number later">${took}</td>
<td class="words">${message ?? ''}${next === null ? undefined : html`<br><span class="soft">${next}</span>`}</td><td class="later soft name">${id}</td></tr>
`;
}
