import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SteppingClock } from '../clocks.ts';
import { type Answer, type Bench, bench, keys } from './service.ts';

/**
 * The behavior that the service's public document describes, as cases in test/cases/service, one file per resource. A
 * case names the document's section and lists calls with their responses. `{name}` is replaced with a value from an
 * earlier response. Response fields that a case doesn't mention aren't checked, a list must have exactly the given
 * items, and `~ x` is a pattern.
 */
interface Case {
  readonly section: string;
  readonly says: string;
  readonly limits?: boolean;
  readonly steps: readonly Step[];
}

interface Step {
  /** `METHOD /path`. */
  readonly call?: string;
  readonly as?: keyof typeof people;
  readonly with?: object | string;
  readonly answers?: number;
  readonly meta?: object;
  readonly data?: object;
  /** Part of the error message. */
  readonly error?: string;
  /**
   * Names for parts of the response: `location` is the ID at the end of the Location header, anything else a path into
   * the body.
   */
  readonly keep?: Readonly<Record<string, string>>;
  /** Seconds to advance the clock. */
  readonly pass?: number;
  /** How often the call is made; all responses must be the same. */
  readonly times?: number;
}

const people = {
  admin: keys.acmeAdmin,
  editor: keys.acmeEditor,
  viewer: keys.acmeViewer,
  reporter: keys.acmeReporter,
  nobody: keys.acmeNobody,
  other: keys.otherAdmin,
  client: keys.clientAdmin,
  stranger: null,
} as const;

const folder = join(import.meta.dirname, '../cases/service');

for (const file of readdirSync(folder).sort()) {
  const cases = parse(readFileSync(join(folder, file), 'utf8')) as readonly Case[];
  describe(file.replace('.yaml', ''), () => {
    for (const one of cases) it(`${one.section} ${one.says}`, () => play(one));
  });
}

async function play({ steps, limits = false }: Case): Promise<void> {
  const clock = new SteppingClock('2026-03-02T17:00:00Z');
  const given = await bench({ clock, limits });
  const known = new Map<string, string>();
  for (const step of steps) {
    if (step.pass !== undefined) clock.advance(step.pass * 1000);
    for (let time = 0; step.call !== undefined && time < (step.times ?? 1); time++) await take(given, step, known);
  }
}

async function take(given: Bench, step: Step, known: Map<string, string>): Promise<void> {
  const fill = <T>(value: T): T => filled(value, known) as T;
  const [method, path] = fill(step.call!).split(' ') as [string, string];
  const answer = await given.call(method, path, {
    key: people[step.as ?? 'admin'],
    ...(step.with === undefined ? {} : { body: fill(step.with) }),
  });
  const told = `${step.call} as ${step.as ?? 'admin'}: ${answer.text}`;
  const worked = step.answers ?? (method === 'POST' && !path.includes('/@/refresh') ? 201 : 200);
  expect(answer.status, told).toBe(worked);
  if (step.meta !== undefined) expect(answer.body.meta, told).toMatchObject(patterned(fill(step.meta)) as object);
  if (step.data !== undefined) expect(answer.body.data, told).toMatchObject(patterned(fill(step.data)) as object);
  if (step.error !== undefined) expect(answer.body.meta.error_desc, told).toContain(fill(step.error));
  for (const [name, place] of Object.entries(step.keep ?? {})) known.set(name, kept(answer, place));
}

function kept({ body }: Answer, place: string): string {
  const path = place === 'location' ? 'meta.location' : place;
  const value = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], body);
  return String(value).split('/').at(-1)!;
}

function filled(value: unknown, known: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return value.replace(/\{(\w+)\}/g, (all, name: string) => known.get(name) ?? all);
  if (Array.isArray(value)) return value.map((item) => filled(item, known));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [filled(name, known) as string, filled(inner, known)]),
  );
}

function patterned(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith('~ ')) return expect.stringMatching(new RegExp(value.slice(2)));
  if (Array.isArray(value)) return value.map(patterned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, patterned(inner)]));
}
