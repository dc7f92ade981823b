import { below, type Document, type Path, readDocument, unescaped } from '../../config/text/document.ts';
import { redact } from '../../lib/redact.ts';

/**
 * Returns the locations of literal secrets in a config file, such as `destinations.main.api_key (line 3)`. Never
 * returns the secrets themselves.
 */
export function writtenSecrets(file: string, text: string): string[] {
  if (redact(text) === text) return [];
  const document = readDocument(file, text);
  const named = secretsBelow('', document.value, document);
  if (named.length > 0) return named;
  // The secret occurs in a comment or is only part of a value.
  return text.split('\n').flatMap((line, i) => (redact(line) === line ? [] : [`line ${i + 1}`]));
}

function secretsBelow(path: Path, value: unknown, document: Document): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, member]) => secretsBelow(below(path, name), member, document));
  const text = String(value);
  if (redact(text) === text) return [];
  const option = path.slice(1).split('/').map(unescaped).join('.');
  return [`${option} (line ${document.place(path).line})`];
}
