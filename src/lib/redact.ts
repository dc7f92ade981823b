/**
 * Secrets are registered when they are read and taken out wherever text leaves the process. Redaction goes by value,
 * not by the name of a field, so a password inside a driver's error message is caught as well (invariant 6).
 */

const mark = '[redacted]';
/** Shorter values would blot out ordinary text ("a", "1") and hide nothing worth hiding. */
const shortestSecret = 4;
const forms = new Set<string>();
let ordered: string[] = [];

/**
 * Remembers a secret for the life of the process, in every shape in which it may surface: as it is, URL-encoded,
 * base64 (also without padding and in the URL alphabet), and as it stands inside a JSON string.
 */
export function registerSecret(value: string): void {
  for (const shape of shapesOf(value)) forms.add(shape);
  ordered = [...forms].sort((a, b) => b.length - a.length);
}

/**
 * Forgets a secret that has ended: a token that was replaced. A process that lives for months would otherwise look for
 * thousands of them in every line.
 */
export function retireSecret(value: string): void {
  for (const shape of shapesOf(value)) forms.delete(shape);
  ordered = [...forms].sort((a, b) => b.length - a.length);
}

function shapesOf(value: string): string[] {
  if (value.length < shortestSecret) return [];
  const base64 = Buffer.from(value, 'utf8').toString('base64');
  return [
    value,
    encodeURIComponent(value),
    encodeURI(value),
    new URLSearchParams({ '': value }).toString().slice(1),
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(value, 'utf8').toString('base64url'),
    JSON.stringify(value).slice(1, -1),
  ].filter((shape) => shape.length >= shortestSecret);
}

/** The text with every registered secret replaced. Longest first, so that a secret inside a longer one leaves no tail. */
export function redact(text: string): string {
  let clean = text;
  for (const form of ordered) if (clean.includes(form)) clean = clean.replaceAll(form, mark);
  return clean;
}

/** Forgets every secret. For tests alone: the process never unlearns one. */
export function forgetSecrets(): void {
  forms.clear();
  ordered = [];
}
