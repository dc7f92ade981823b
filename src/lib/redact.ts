/**
 * Secrets are registered when they're read, and removed wherever text leaves the process. Redaction is by value and not
 * by field name, so it also catches a password inside a driver's error message (invariant 6).
 */

/**
 * Matches the names of headers, parameters and other fields whose values are secrets: `auth`, `key` and other words,
 * also as parts of names such as `x-api-key`, `accessKeyId` and `hapikey`, but not inside of other words (`author`,
 * `keyword`, `passenger`). A word that only ends with these letters is recognized only by itself, because `commonKey`
 * ends like `monkey`.
 */
export const secretName =
  /auth(?!or(?!i[sz]))|(?<!\b(?:don|hoc|joc|mon|tur|whis))key(?!board|less|note|stroke|word)|token|secret|(?<!\b(?:by|com))pass(?!age|enger|ion|ive|port)|cookie|session|credential|signature|\bsig\b/i;

/**
 * Matches names that suggest a secret: names of variables, of options that have their own schema, and of values in
 * records. It's stricter than `secretName`, because "key" can mean something else in these names.
 */
export const secretWord =
  /pass(word|wd|phrase)?|secret|token|credential|api[-_]?key|private[-_]?key|authorization|cookie/i;

const mark = '[redacted]';
/** Minimum length of a secret. Redacting shorter values, such as "a" or "1", would garble ordinary text. */
const minSecretLength = 4;
/** Minimum length of a partial form of a secret. Shorter ones would often match by chance. */
const minPartLength = 8;
/** A line of a multi-line secret that is at least this long is a secret by itself. */
const minLineLength = 16;
/** The secrets whose forms are certainly registered. Each connection registers its password again. */
const registered = new Set<string>();
const forms = new Set<string>();
/** All forms, longest first; undefined if they must be sorted again. */
let ordered: readonly string[] | undefined;

/**
 * Registers a secret for the life of the process, in every form in which it may appear: plain, URL-encoded, escaped in
 * JSON, XML and HTML, in base64 (alone, or inside longer data) and in hex. Each line of a multi-line secret is
 * registered too.
 */
export function registerSecret(value: string): void {
  if (registered.has(value)) return;
  registered.add(value);
  for (const shape of shapesOf(value)) forms.add(shape);
  ordered = undefined;
}

/** Registers a secret that may be percent-encoded, such as a password in a URL: both as written and decoded. */
export function registerEncodedSecret(written: string): void {
  registerSecret(written);
  try {
    registerSecret(decodeURIComponent(written));
  } catch {
    // The text isn't percent-encoded, so registering it as written is enough.
  }
}

/**
 * Removes a secret that is no longer valid, such as a replaced token. Otherwise, a process that runs for months would
 * search every line for thousands of old secrets.
 */
export function retireSecret(value: string): void {
  // Another secret may share some of its forms.
  registered.clear();
  for (const shape of shapesOf(value)) forms.delete(shape);
  ordered = undefined;
}

function shapesOf(value: string): string[] {
  if (value.length < minSecretLength) return [];
  const lines = value.split(/\r?\n/);
  const alone =
    lines.length === 1 ? [] : lines.filter((line) => line.length >= minLineLength && !line.startsWith('-----'));
  const whole = [value, value.replaceAll(/\s+/g, ' ').trim(), value.replaceAll(/\r?\n/g, '\r\n')];
  const texts = [...new Set([...whole, ...alone])].filter((text) => text.length >= minSecretLength);
  return texts.flatMap((text) => [...writtenShapes(text), ...encodedShapes(text)]);
}

/** A secret's escaped forms in various text formats. */
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

/** Percent-encodes all punctuation, as RFC 6749 (2.3.1) requires for Basic credentials before base64. */
function everySignEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[-_.!~*'()]/g, (sign) => `%${hexOf(sign)}`);
}

/** The base64 and hex forms of a secret and of its percent-encoded forms. */
function encodedShapes(text: string): string[] {
  return [...new Set([text, encodeURIComponent(text), everySignEncoded(text)])].flatMap(byteShapes);
}

function byteShapes(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const parts = [0, 1, 2].map((before) => innerBase64(bytes, before)).filter(({ length }) => length >= minPartLength);
  const base64 = [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), ...parts];
  const url = base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...base64, ...url, hex, hex.toUpperCase()];
}

/** The base64 characters that certainly appear if these bytes are at offset `before` (modulo three) in longer data. */
function innerBase64(bytes: Buffer, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6));
}

const hexOf = (sign: string): string => sign.charCodeAt(0).toString(16).toUpperCase();

/** Replaces every registered secret, longest first, so that a secret inside a longer one leaves no remainder. */
export function redact(text: string): string {
  ordered ??= [...forms].sort((a, b) => b.length - a.length);
  let clean = text;
  for (const form of ordered) if (clean.includes(form)) clean = clean.replaceAll(form, mark);
  return clean;
}

/**
 * The beginning of text from outside, on one line. Redacts it before truncating it, because a truncated secret would
 * not be recognized.
 */
export function excerpt(text: string, maxCharacters: number): string {
  return cutText(redact(text).replaceAll(/\s+/g, ' ').trim(), maxCharacters);
}

/** The first `most` characters of a string, after redacting all of it. Only this function may truncate messages. */
export function cutText(text: string, maxCharacters: number): string {
  const clean = redact(text);
  return clean.length > maxCharacters ? `${clean.slice(0, maxCharacters)}…` : clean;
}

/**
 * The characters `from` to `to` of a string that may be a fragment, such as one block of a response. Also removes
 * secrets that are only partly in the excerpt or that were cut off at the ends of the string.
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

/**
 * The first `most` characters of text from outside, which may be shown or searched later. If a secret was cut off, its
 * beginning is removed too.
 */
export function beginningOf(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? excerptAt(text.slice(0, maxCharacters), 0, maxCharacters) : text;
}

/** Like {@link excerptAt}, for the bytes `from` to `to` of UTF-8 text. */
export function excerptOfBytes(bytes: Buffer, from: number, to: number): string {
  const start = bytes.toString('utf8', 0, Math.max(0, from)).length;
  return excerptAt(bytes.toString('utf8'), start, start + bytes.toString('utf8', Math.max(0, from), to).length);
}

/** Start and end of each secret in a string, in order, including partial secrets at the string's ends. */
function secretsIn(text: string): [number, number][] {
  const found: [number, number][] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) found.push([at, at + form.length]);
    const maxLength = Math.min(form.length - 1, text.length);
    const lengths = Array.from({ length: Math.max(0, maxLength - minSecretLength + 1) }, (_, i) => maxLength - i);
    const head = lengths.find((length) => text.startsWith(form.slice(-length)));
    const tail = lengths.find((length) => text.endsWith(form.slice(0, length)));
    if (head !== undefined) found.push([0, head]);
    if (tail !== undefined) found.push([text.length - tail, text.length]);
  }
  return found.sort(([a, end], [b, other]) => a - b || other - end);
}

/** Forgets all secrets. Only for tests. */
export function forgetSecrets(): void {
  registered.clear();
  forms.clear();
  ordered = undefined;
}
