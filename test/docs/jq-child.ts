/**
 * The subset of jq that the pages need: `-r .NAME FILE` prints a member. A filter must start with an existing member.
 */
import { readFileSync } from 'node:fs';

const words = process.argv.slice(2);
const [filter = '', file] = words.filter((word) => !word.startsWith('-'));
const input = readFileSync(file ?? 0, 'utf8');
const name = /\.(\w+)/.exec(filter)?.[1] ?? '';
// A log has one document per line.
const documents = file === undefined && filter.startsWith('select') ? input.trim().split('\n') : [input];
for (const text of documents.filter((one) => one !== '')) {
  const document = JSON.parse(text) as Record<string, unknown>;
  if (!Object.hasOwn(document, name)) throw new Error(`no member "${name}" in ${text.slice(0, 200)}`);
  if (words.includes('-r')) process.stdout.write(`${String(document[name])}\n`);
}
