import { redact } from './redact.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in an element or between the quotes of an attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => entities[mark]!);
}

/** Markup that needs no more escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template may hold: text is escaped, markup is not, a list is joined, undefined is nothing. */
export type HtmlPart = string | number | Html | readonly HtmlPart[] | undefined;

/** A template whose values are redacted and escaped unless they are markup themselves, so that none can be forgotten. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((whole, piece, i) => `${whole}${textOf(parts[i - 1])}${piece}`));
}

function textOf(part: HtmlPart): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escapeHtml(redact(String(part)));
}
