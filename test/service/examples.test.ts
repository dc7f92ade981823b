import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { RecordedExample } from '../../src/service/openapi/examples.ts';
import { SteppingClock } from '../clocks.ts';
import { addressOf, type Case, collectCases } from './case.ts';
import { type Bench, bench, type Envelope } from './service.ts';

const file = '../../src/service/openapi/examples.generated.json';
const endpoints = (await collectResources()).flatMap((resource) => resource.endpoints);
const cases = await collectCases();

/** Calls the endpoint as its test case does. Returns what the OpenAPI document shows of the call. */
async function record(given: Bench, endpoint: Endpoint, one: Case): Promise<RecordedExample> {
  const params = (await one.prepare?.(given)) ?? {};
  const sent = one.example ?? one.bodyWith?.(params) ?? one.body ?? null;
  const answer = await given.call(endpoint.method, addressOf(endpoint, params, one.query), { body: sent });
  expect(answer.status).toBe(one.refuses ?? endpoint.answer.status);
  const request = declaredFields(endpoint, sent);
  return { ...(request && { request }), response: inOrder(answer.body) };
}

/** The part of a JSON body that the endpoint declares, or all of it if the endpoint keeps unknown fields. */
function declaredFields({ body: declared, keepsUnknown }: Endpoint, sent: unknown): object | undefined {
  if (typeof declared !== 'object' || typeof sent !== 'object' || sent === null) return undefined;
  const fields = Object.entries(sent).filter(([name]) => keepsUnknown === true || Object.hasOwn(declared, name));
  const present = JSON.stringify(Object.fromEntries(fields), (_key, value: unknown) => value ?? undefined);
  return fields.length === 0 ? undefined : (JSON.parse(present) as object);
}

/** Items that were created in the same millisecond are listed by their random IDs, so sort them by name. */
function inOrder(body: Envelope): object {
  const { data, ...rest } = body;
  const sorted = Object.entries(data ?? {}).map(([name, value]) => [name, Array.isArray(value) ? sort(value) : value]);
  return data === undefined ? rest : { ...rest, data: Array.isArray(data) ? data : Object.fromEntries(sorted) };
}

function sort(items: readonly { name?: unknown }[]): unknown {
  const isNamed = items.every((item) => typeof item === 'object' && typeof item.name === 'string');
  return isNamed ? items.toSorted((a, b) => String(a.name).localeCompare(String(b.name))) : items;
}

/** Replaces random IDs with IDs that are the same in each recording, and the test's port with the usual one. */
function steady(example: RecordedExample, id: string, { origin }: Bench): RecordedExample {
  const known = new Map<string, string>();
  const steadyId = (random: string): string => {
    const made = known.get(random) ?? createHash('md5').update(`${id} ${known.size}`).digest('hex');
    known.set(random, made);
    return made;
  };
  const text = JSON.stringify(example).replaceAll(new URL(origin).host, '127.0.0.1:8080');
  return JSON.parse(text.replaceAll(/\b[0-9a-f]{32}\b/g, steadyId)) as RecordedExample;
}

it("the document's examples are what the service responds; update them with: npm run examples", async () => {
  const given = await bench({ clock: new SteppingClock('2026-03-02T17:00:00Z'), control: {} });
  const lines: string[] = [];
  for (const endpoint of endpoints) {
    await given.control('POST', '/reset');
    const example = await record(given, endpoint, cases[`${endpoint.method} ${endpoint.path}`]!);
    lines.push(`  ${JSON.stringify(endpoint.id)}: ${JSON.stringify(steady(example, endpoint.id, given))}`);
  }
  await expect(`{\n${lines.join(',\n')}\n}\n`).toMatchFileSnapshot(file);
});
