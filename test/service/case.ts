import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Bench, Sent } from './service.ts';

/** A successful call of one endpoint and ways to break it. An endpoint that has no case fails its test. */
export interface Case {
  /** Creates what the path names. Returns the values of the path's parameters. */
  prepare?(given: Bench): Promise<Record<string, string>>;
  query?: string;
  body?: Sent['body'];
  /** A valid body that refers to what was created, if `body` can't. */
  bodyWith?(params: Record<string, string>): object;
  /** A valid body for the OpenAPI document, if `body` isn't one that a person would send. */
  example?: object;
  /** Calls that must be rejected with 400 and the field's name. */
  bad?: readonly { query?: string; body?: Sent['body']; field: string }[];
  /** The endpoint refuses every call. */
  refuses?: number;
}

export type Cases = Record<string, Case>;

/** The path and query of a call of an endpoint. */
export function addressOf(endpoint: Endpoint, params: Record<string, string>, query = ''): string {
  const address = query === '' ? endpoint.path : `${endpoint.path}?${query}`;
  return address.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? 'unknown');
}

/** Invalid list parameters. */
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

/** Invalid bodies for creating something that has a name and a description. */
export const badNews = [
  { body: {}, field: 'name' },
  { body: { name: null }, field: 'name' },
  { body: { name: ' ' }, field: 'name' },
  { body: { name: 7 }, field: 'name' },
  { body: { name: 'x'.repeat(256) }, field: 'name' },
  { body: { name: 'A', description: 7 }, field: 'description' },
];

/** Invalid bodies for changing the name or the description. */
export const badChanges = [
  { body: { name: '' }, field: 'name' },
  { body: { description: [] }, field: 'description' },
];

/** All cases in cases/, which has one file per resource. */
export async function collectCases(): Promise<Cases> {
  const folder = join(import.meta.dirname, 'cases');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.ts')).sort();
  const collected = await Promise.all(
    files.map(async (file) => ((await import(join(folder, file))) as { default: Cases }).default),
  );
  return Object.assign({}, ...collected) as Cases;
}
