/**
 * Secrets are registered when they are read and taken out wherever text leaves the process. Redaction goes by value,
 * not by the name of a field, so a password inside a driver's error message is caught as well (invariant 6).
 */

/** Names of headers, parameters and the like that people put secrets under. */
export const secretName = /auth|key|token|secret|pass|cookie|session|credential|signature|\bsig\b/i;

const mark = '[redacted]';
/** Shorter values would blot out ordinary text ("a", "1") and hide nothing worth hiding. */
const shortestSecret = 4;
/** Of shapes that only show a part of a secret, shorter ones are likely to be found by chance. */
const shortestPart = 8;
/** A line of a secret of several lines that is as long as this tells something by itself. */
const shortestLine = 16;
const forms = new Set<string>();
/** Longest first; undefined if it must be sorted again. */
let ordered: readonly string[] | undefined;

/**
 * Remembers a secret for the life of the process, in every shape in which it may surface: as it is, URL-encoded, as it
 * stands in JSON, XML and HTML, in base64 (by itself, and as a part of something longer) and in hexadecimal digits. Of
 * one with several lines, each line is one as well.
 */
export function registerSecret(value: string): void {
  for (const shape of shapesOf(value)) forms.add(shape);
  ordered = undefined;
}

/**
 * Forgets a secret that has ended: a token that was replaced. A process that lives for months would otherwise look for
 * thousands of them in every line.
 */
export function retireSecret(value: string): void {
  for (const shape of shapesOf(value)) forms.delete(shape);
  ordered = undefined;
}

function shapesOf(value: string): string[] {
  if (value.length < shortestSecret) return [];
  const lines = value.split(/\r?\n/);
  const alone =
    lines.length === 1 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'));
  const whole = [value, value.replaceAll(/\s+/g, ' ').trim(), value.replaceAll(/\r?\n/g, '\r\n')];
  const texts = [...new Set([...whole, ...alone])].filter((text) => text.length >= shortestSecret);
  return texts.flatMap((text) => [...writtenShapes(text), ...encodedShapes(text)]);
}

/** As texts of several kinds spell it. */
function writtenShapes(text: string): string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  const percent = [
    encodeURIComponent(text),
    encodeURI(text),
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${hexOf(sign)}`),
    everySignEncoded(text),
    everySignEncoded(text).replaceAll('%20', '+'),
    new URLSearchParams({ '': text }).toString().slice(1),
  ];
  const markup = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const full = markup.replaceAll('>', '&gt;');
  const quotes = full.replaceAll('"', '&quot;');
  return [
    text,
    ...percent,
    ...percent.map((one) => one.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
    encodeURIComponent(encodeURIComponent(text)),
    quoted,
    JSON.stringify(quoted).slice(1, -1),
    quoted.replaceAll('/', '\\/'),
    quoted.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    text.replaceAll('\\', '\\\\').replaceAll("'", "\\'"),
    markup,
    full,
    quotes,
    quotes.replaceAll("'", '&apos;'),
    quotes.replaceAll("'", '&#39;'),
    full.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
    full.replaceAll('"', '&#x22;').replaceAll("'", '&#x27;'),
  ];
}

/** As RFC 6749 (2.3.1) wants it, before it comes into a header in base64. */
function everySignEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[-_.!~*'()]/g, (sign) => `%${hexOf(sign)}`);
}

/** As bytes in letters, also of what was encoded for a form before. */
function encodedShapes(text: string): string[] {
  return [...new Set([text, encodeURIComponent(text), everySignEncoded(text)])].flatMap(byteShapes);
}

function byteShapes(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const parts = [0, 1, 2].map((before) => innerBase64(bytes, before)).filter(({ length }) => length >= shortestPart);
  const base64 = [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), ...parts];
  const url = base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...base64, ...url, hex, hex.toUpperCase()];
}

/** What base64 of something longer shows of these bytes for sure, where so many stand before them (modulo three). */
function innerBase64(bytes: Buffer, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6));
}

const hexOf = (sign: string): string => sign.charCodeAt(0).toString(16).toUpperCase();

/** The text with every registered secret replaced. Longest first, so that a secret inside a longer one leaves no tail. */
export function redact(text: string): string {
  ordered ??= [...forms].sort((a, b) => b.length - a.length);
  let clean = text;
  for (const form of ordered) if (clean.includes(form)) clean = clean.replaceAll(form, mark);
  return clean;
}

/** The beginning of what others say, in one line. Secrets go before it is cut: half of one would not be known any more. */
export function excerpt(text: string, most: number): string {
  return cutText(redact(text).replaceAll(/\s+/g, ' ').trim(), most);
}

/** At most the first `most` characters of a text, secrets out of the whole first. No message cuts a text in any other way. */
export function cutText(text: string, most: number): string {
  const clean = redact(text);
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}

/**
 * The characters `from` to `to` of a text that may itself be a piece of something longer, such as one block of an answer. A secret is
 * taken out if any of it is in there, also one of which only the end or the beginning is in the text.
 */
export function excerptAt(text: string, from: number, to: number): string {
  let [shown, at] = ['', Math.max(0, from)];
  for (const [start, end] of secretsIn(text)) {
    if (end <= at || start >= to) continue;
    shown += `${text.slice(at, Math.max(at, start))}${mark}`;
    at = end;
  }
  return shown + text.slice(at, Math.max(at, to));
}

/** The first `most` characters of what others write, to be shown or searched later: without the beginning of a secret that the cut went through. */
export function beginningOf(text: string, most: number): string {
  return text.length > most ? excerptAt(text.slice(0, most), 0, most) : text;
}

/** The same for bytes `from` to `to` of UTF-8. */
export function excerptOfBytes(bytes: Buffer, from: number, to: number): string {
  const start = bytes.toString('utf8', 0, Math.max(0, from)).length;
  return excerptAt(bytes.toString('utf8'), start, start + bytes.toString('utf8', Math.max(0, from), to).length);
}

/** Where secrets begin and end in a text, and parts of secrets at its two ends; in order. */
function secretsIn(text: string): [number, number][] {
  const found: [number, number][] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
    const most = Math.min(form.length - 1, text.length);
    const lengths = Array.from({ length: Math.max(0, most - shortestSecret + 1) }, (_, i) => most - i);
    const head = lengths.find((length) => text.startsWith(form.slice(-length)));
    const tail = lengths.find((length) => text.endsWith(form.slice(0, length)));
    if (head !== undefined) found.push([0, head]);
    if (tail !== undefined) found.push([text.length - tail, text.length]);
  }
  return found.sort(([a, end], [b, other]) => a - b || other - end);
}

/** Forgets every secret. For tests alone: the process never unlearns one. */
export function forgetSecrets(): void {
  forms.clear();
  ordered = undefined;
}
