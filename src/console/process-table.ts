import { differenceText, type ProcessStatus } from '../daemon/report/report-processes.ts';
import type { Status } from '../daemon/report/report-status.ts';
import { countOf, countText } from '../lib/count-text.ts';
import { type Html, html } from '../lib/html.ts';
import { instant, standing, word } from './figures.ts';

/** Shows the processes of all machines that share the state, and their queue; nothing for a state in a folder. */
export function processTable({ processes, queue }: Pick<Status, 'processes' | 'queue'>, now: number): Html | undefined {
  if (processes === undefined || queue === undefined) return undefined;
  const { waiting, running, waiting_since: since } = queue;
  const fix = differenceText(processes);
  return html`<h2>Processes</h2>
<div class="wide"><table><thead><tr><th>host</th><th>process</th><th>role</th><th>config</th><th class="later">runs</th><th class="later">started</th><th class="later">version</th></tr></thead>
<tbody>${processes.map((one) => processRow(one, now))}</tbody></table></div>
<p>Queue: ${countOf(waiting, 'run')} waiting${since === undefined ? undefined : html`, the oldest since ${instant(since, now)}`}; ${countText(running)} in progress.</p>${fix === undefined ? undefined : html`<p>${fix}</p>`}`;
}

function processRow({ host, pid, role, config_differs, runs, since, version }: ProcessStatus, now: number): Html {
  const config = config_differs ? standing('wait', "differs from the planner's") : standing('good', 'same');
  return html`<tr><td class="name">${word(host)}</td><td class="number">${pid}</td><td>${role}</td><td>${config}</td>
<td class="number later">${countText(runs)}</td><td class="time later">${instant(since, now)}</td><td class="later">${version}</td></tr>
`;
}
