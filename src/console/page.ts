import { createHash } from 'node:crypto';
import { Html, html } from '../lib/html.ts';
import { instantText } from '../lib/time-text.ts';
import { style } from './style.ts';

const refreshSeconds = 30;
const styleMarkup = new Html(style);
const styleHash = createHash('sha256').update(style).digest('base64');

/** A strict content security policy, because the page contains only text and one inline style sheet. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export interface PageOptions {
  readonly title: string;
  readonly version: string;
  /** The time when the data was read, in epoch milliseconds. */
  readonly now: number;
  readonly body: Html;
  /** Whether the page reloads automatically. */
  readonly refreshes?: boolean;
}

/** The layout that all pages share. */
export function pageOf({ title, version, now, body, refreshes }: PageOptions): string {
  const again = refreshes === true ? html`<meta http-equiv="refresh" content="${refreshSeconds}">` : undefined;
  const status =
    refreshes === true
      ? html`updated ${instantText(now)}, refreshes every ${refreshSeconds} s · <a href="?still">pause</a>`
      : html`updated ${instantText(now)} · <a href="?">refresh</a>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${again}<link rel="icon" href="data:,"><title>${title} · Sluice</title><style>${styleMarkup}</style></head>
<body><header><span><a href="/">Sluice</a> ${version}</span><span>${status}</span></header>
<main>${body}</main></body></html>
`.text;
}
