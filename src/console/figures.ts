import { advised } from '../lib/advice.ts';
import { type Html, html } from '../lib/html.ts';
import { durationText, instantText } from '../lib/time-text.ts';
import { type Standing, signs } from './standing.ts';

/** Shows an instant (epoch milliseconds) relative to now and as an absolute time. */
export function instant(at: number | undefined | null, now: number): Html {
  if (at === undefined || at === null) return html`–`;
  const far = at > now ? `in ${durationText(at - now)}` : `${durationText(now - at)} ago`;
  return html`<time datetime="${new Date(at).toISOString()}">${far} <span class="at">${instantText(at)}</span></time>`;
}

/** Shows a state with its symbol and color. */
export const standing = (kind: Standing, words: string): Html =>
  html`<span class="state ${kind}">${signs[kind]}&nbsp;${words}</span>`;

/** Shows a name or ID. One click selects all of it. */
export const word = (text: string): Html => html`<code>${text}</code>`;

/** Shows a command with its `--config` flag. One click selects all of it. */
export const command = (text: string): Html => word(advised(text));

/** Matches a command in backticks, and a command without backticks that is the entire advice or its last step. */
const typed = /`(sluice [^`]+)`|(?<=^|; then )(sluice [^;,`]+)$/;

/** Shows advice on fixing a problem, with the commands highlighted. */
export const fixing = (text: string): Html =>
  html`${text.split(typed).map((part) => (part?.startsWith('sluice ') ? command(part) : part))}`;

export const jobLink = (job: string): Html => html`<a href="/jobs/${encodeURIComponent(job)}">${job}</a>`;
