import { redact } from './redact.ts';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for use in an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => entities[mark]!);
}

/** Markup that is already escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template. Text is escaped, markup isn't, a list's items are joined, and undefined is left out. */
export type HtmlPart = string | number | Html | readonly HtmlPart[] | undefined;

/** A template tag that redacts and escapes all values except markup, so that callers can't forget to. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(strings.reduce((whole, piece, i) => `${whole}${textOf(parts[i - 1])}${piece}`));
}

function textOf(part: HtmlPart): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escapeHtml(redact(String(part)));
}
