import { advised } from '../lib/advice.ts';
import { type Html, html } from '../lib/html.ts';
import { durationText, instantText } from '../lib/time-text.ts';
import { type Standing, signs } from './standing.ts';

/** An instant (epoch milliseconds), shown relative to now and as an absolute time. */
export function instant(at: number | undefined | null, now: number): Html {
  if (at === undefined || at === null) return html`–`;
  const far = at > now ? `in ${durationText(at - now)}` : `${durationText(now - at)} ago`;
  return html`<time datetime="${new Date(at).toISOString()}">${far} <span class="at">${instantText(at)}</span></time>`;
}

/** A state with its symbol and color. */
export const standing = (kind: Standing, words: string): Html =>
  html`<span class="state ${kind}">${signs[kind]}&nbsp;${words}</span>`;

/** A name or ID that a click selects. */
export const word = (text: string): Html => html`<code>${text}</code>`;

/** A command that a click selects, with its `--config` flag. */
export const command = (text: string): Html => word(advised(text));

/** Matches a command in backticks, or one that is the entire advice or comes at its end. */
const typed = /`(sluice [^`]+)`|(?<=^|; then )(sluice [^;,`]+)$/;

/** A fix, with its commands highlighted. */
export const fixing = (text: string): Html =>
  html`${text.split(typed).map((part) => (part?.startsWith('sluice ') ? command(part) : part))}`;

export const jobLink = (job: string): Html => html`<a href="/jobs/${encodeURIComponent(job)}">${job}</a>`;
