import { createHash } from 'node:crypto';

/** A table, index or trigger of a database. */
export interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Selects a database's {@link SchemaEntry}s, except SQLite's internal ones. */
export const schemaQuery =
  "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\'";

/**
 * A hash of the actual tables, independent of the migration history, because a version number in the database doesn't
 * prove what its tables look like. Ignores white space and column order.
 */
export function schemaHash(entries: readonly SchemaEntry[]): string {
  const texts = entries.map((entry) => `${nameOf(entry)}: ${partsOf(entry.sql).join('; ')}`).sort();
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16);
}

/** Describes the first few differences from the wanted schema, such as `table sends lacks "days" text`. */
export function schemaDifferences(found: readonly SchemaEntry[], wanted: readonly SchemaEntry[]): string[] {
  const [is, shouldBe] = [byName(found), byName(wanted)];
  const names = [...new Set([...is.keys(), ...shouldBe.keys()])];
  return names.flatMap((name) => differencesOf(name, { is: is.get(name), shouldBe: shouldBe.get(name) })).slice(0, 5);
}

function differencesOf(
  name: string,
  { is, shouldBe }: { is: readonly string[] | undefined; shouldBe: readonly string[] | undefined },
): string[] {
  if (is === undefined) return [`${name} is missing`];
  if (shouldBe === undefined) return [`${name} is not known`];
  const [lacking, surplus] = [
    shouldBe.filter((part) => !is.includes(part)),
    is.filter((part) => !shouldBe.includes(part)),
  ];
  return [...lacking.map((part) => `${name} lacks ${part}`), ...surplus.map((part) => `${name} has ${part}`)];
}

const nameOf = ({ type, name }: SchemaEntry): string => `${type} ${name}`;

function byName(entries: readonly SchemaEntry[]): Map<string, string[]> {
  return new Map(entries.map((entry) => [nameOf(entry), partsOf(entry.sql)]));
}

/** The definitions between the outer parentheses, sorted, and the text around them. */
function partsOf(sql: string): string[] {
  const parts: string[] = [];
  let [depth, part, around] = [0, '', ''];
  for (const character of sql) {
    if (character === ')') depth -= 1;
    const ends = depth === 0 ? character === ')' : depth === 1 && character === ',';
    if (ends) {
      parts.push(part);
      part = '';
    } else if (depth === 0) around += character;
    else part += character;
    if (character === '(') depth += 1;
  }
  return [around, ...parts.sort()].map((text) => text.replaceAll(/\s+/g, ' ').trim());
}
