import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, Sent } from './service.ts';

/** A call of one endpoint that works, and ways to break it. An endpoint without one fails its test. */
export interface Case {
  /** Prepares what the path names; answers the values of the path's parameters. */
  prepare?(given: Bench): Promise<Record<string, string>>;
  query?: string;
  body?: Sent['body'];
  /** A body that works and names what was prepared, where `body` cannot. */
  bodyWith?(params: Record<string, string>): object;
  /** Calls that must be refused with 400 naming the field. */
  bad?: readonly { query?: string; body?: Sent['body']; field: string }[];
  /** The endpoint exists to refuse. */
  refuses?: number;
}

export type Cases = Record<string, Case>;

/** The ways in which a list must not be asked for. */
export const badPages = [
  'offset=-1',
  'offset=1.5',
  'offset=x',
  'limit=0',
  'limit=-1',
  'limit=101',
  'limit=2.5',
  'limit=',
  'limit=1&limit=2',
].map((query) => ({ query, field: query.split('=')[0]! }));

/** Bodies that are to make something with a name and a description, and must not. */
export const badNews = [
  { body: {}, field: 'name' },
  { body: { name: null }, field: 'name' },
  { body: { name: ' ' }, field: 'name' },
  { body: { name: 7 }, field: 'name' },
  { body: { name: 'x'.repeat(256) }, field: 'name' },
  { body: { name: 'A', description: 7 }, field: 'description' },
];

/** Bodies that are to change either of the two, and must not. */
export const badChanges = [
  { body: { name: '' }, field: 'name' },
  { body: { description: [] }, field: 'description' },
];

/** The cases of every file in cases/, one for each resource. */
export async function collectCases(): Promise<Cases> {
  const folder = join(import.meta.dirname, 'cases');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  const collected = await Promise.all(
    files.map(async (file) => ((await import(join(folder, file))) as { default: Cases }).default),
  );
  return Object.assign({}, ...collected) as Cases;
}
