import { createHash } from 'node:crypto';
import { Html, html } from '../lib/html.ts';
import { instantText } from '../lib/time-text.ts';
import { style } from './style.ts';

const refreshSeconds = 30;
const styleMarkup = new Html(style);
const styleHash = createHash('sha256').update(style).digest('base64');

/** Nothing is loaded, run or framed: the page is text, and the one style that it brings along. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

export interface PageGiven {
  readonly title: string;
  readonly version: string;
  /** Epoch milliseconds: when what it shows was read. */
  readonly now: number;
  readonly body: Html;
  /** Absent: the page stays as it is. */
  readonly refreshes?: boolean;
}

/** The frame that all pages have. */
export function pageOf({ title, version, now, body, refreshes }: PageGiven): string {
  const again = refreshes === true ? html`<meta http-equiv="refresh" content="${refreshSeconds}">` : undefined;
  const says =
    refreshes === true
      ? html`read at ${instantText(now)}, again every ${refreshSeconds} s · <a href="?still">stop that</a>`
      : html`read at ${instantText(now)} · <a href="?">read again</a>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
${again}<link rel="icon" href="data:,"><title>${title} · Sluice</title><style>${styleMarkup}</style></head>
<body><header><span><a href="/">Sluice</a> ${version}</span><span>${says}</span></header>
<main>${body}</main></body></html>
`.text;
}
