import { redact } from '../../lib/redact.ts';

const maxCharacters = 60;

/** Formats a value for a message: shortened, on one line, with secrets redacted. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return `a map (${Object.keys(value).slice(0, 4).join(', ')})`;
  const text = redact(typeof value === 'string' ? JSON.stringify(value) : String(value));
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text;
}

/** Describes a value by its type, for values that must not be shown. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  const kinds: Record<string, string> = {
    object: 'a map',
    string: 'text',
    number: 'a number',
    boolean: 'true or false',
  };
  return kinds[typeof value] ?? typeof value;
}
