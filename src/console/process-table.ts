import type { ProcessStatus } from '../daemon/report/report-processes.ts';
import { countText } from '../lib/count-text.ts';
import { type Html, html } from '../lib/html.ts';
import { instant, standing, word } from './figures.ts';

/** Shows the processes of all machines that share the state. */
export function processTable(processes: readonly ProcessStatus[], now: number): Html {
  return html`<h2>Processes</h2>
<div class="wide"><table><thead><tr><th>host</th><th>process</th><th>role</th><th>config</th><th class="later">runs</th><th class="later">started</th><th class="later">version</th></tr></thead>
<tbody>${processes.map((one) => processRow(one, now))}</tbody></table></div>`;
}

function processRow({ host, pid, role, config_differs, runs, since, version }: ProcessStatus, now: number): Html {
  const config = config_differs ? standing('wait', "differs from the daemon's") : standing('good', 'same');
  return html`<tr><td class="name">${word(host)}</td><td class="number">${pid}</td><td>${role}</td><td>${config}</td>
<td class="number later">${countText(runs)}</td><td class="time later">${instant(since, now)}</td><td class="later">${version}</td></tr>
`;
}
