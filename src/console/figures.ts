import { advised } from '../lib/advice.ts';
import { type Html, html } from '../lib/html.ts';
import { durationText, instantText } from '../lib/time-text.ts';
import { type Standing, signs } from './standing.ts';

/** How far an instant is from now, which is what a tired person asks, and then the instant. Epoch milliseconds. */
export function instant(at: number | undefined | null, now: number): Html {
  if (at === undefined || at === null) return html`–`;
  const far = at > now ? `in ${durationText(at - now)}` : `${durationText(now - at)} ago`;
  return html`<time datetime="${new Date(at).toISOString()}">${far} <span class="at">${instantText(at)}</span></time>`;
}

/** Words of state with their sign and colour. */
export const standing = (kind: Standing, words: string): Html =>
  html`<span class="state ${kind}">${signs[kind]}&nbsp;${words}</span>`;

/** A name or an id that is taken whole by one click. */
export const word = (text: string): Html => html`<code>${text}</code>`;

/** A command that is taken whole by one click, with the config that it needs. */
export const command = (text: string): Html => word(advised(text));

/** Between backticks, alone, or at the end of what is to be done: what is to be typed. */
const typed = /`(sluice [^`]+)`|(?<=^|; then )(sluice [^;,`]+)$/;

/** What a person can do: commands in it are marked as such. */
export const fixing = (text: string): Html =>
  html`${text.split(typed).map((part) => (part?.startsWith('sluice ') ? command(part) : part))}`;

export const jobLink = (job: string): Html => html`<a href="/jobs/${encodeURIComponent(job)}">${job}</a>`;
