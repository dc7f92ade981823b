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

/** A command that is taken whole by one click. */
export const command = (text: string): Html => html`<code>${text}</code>`;

/** What a person can do: commands in it are marked as such. */
export function mending(text: string): Html {
  if (/^sluice [^;,]+$/.test(text)) return command(text);
  const parts = text.split('`');
  return html`${parts.map((part, i) => (i % 2 === 1 && i < parts.length - 1 ? command(part) : part))}`;
}

export const jobLink = (job: string): Html => html`<a href="/jobs/${encodeURIComponent(job)}">${job}</a>`;
