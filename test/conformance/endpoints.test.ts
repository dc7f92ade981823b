import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import { answerFaults } from '../service/answers.ts';
import { checks } from './checks.ts';
import { waivers } from './waivers.ts';
import { titleOf, World } from './world.ts';

const endpoints = (await collectResources()).flatMap((resource) => resource.endpoints);
const titled = endpoints.map((endpoint) => [titleOf(endpoint), endpoint] as const);
const used = new Set<string>();

let world: World;
beforeAll(async () => {
  world = await World.start(endpoints);
});
afterAll(() => world.stop());

describe.each(titled)('%s', (title, endpoint) => {
  for (const check of checks.filter(({ appliesTo }) => appliesTo(endpoint))) {
    const waiver = `${title} ${check.title}`;
    if (waivers[waiver] === undefined) it(check.title, () => check.run(world, endpoint));
    else {
      used.add(waiver);
      it(`still fails the check "${check.title}"`, async () => {
        await expect(check.run(world, endpoint)).rejects.toThrow();
      });
    }
  }
});

it('every waiver belongs to an existing check', () => {
  expect(Object.keys(waivers).filter((waiver) => !used.has(waiver))).toEqual([]);
});

describe('the comparison of a response with its declaration', () => {
  const answer = (text: object, { status = 200, path = '/datasources' } = {}): string[] =>
    answerFaults({ method: 'GET', path, status, text: JSON.stringify(text) });
  const meta = { success: true, status: 200, count: 0, total: 0 };

  it('accepts a correct response', () => {
    expect(answer({ meta, data: { datasources: [] } })).toEqual([]);
  });

  it.each([
    ['a field of the wrong type', { meta, data: { datasources: {} } }],
    ['a missing field', { meta, data: {} }],
    ['an undeclared field', { meta, data: { datasources: [], more: 1 } }],
    ['a list without its total', { meta: { success: true, status: 200, count: 0 }, data: { datasources: [] } }],
    ['a status that differs from the HTTP status', { meta: { ...meta, status: 201 }, data: { datasources: [] } }],
    ['a response without an envelope', []],
  ])('finds %s', (_what, text) => {
    expect(answer(text)).not.toEqual([]);
  });

  it("finds an error response without an envelope, and a success response that isn't declared", () => {
    expect(answer({ error: 'x' }, { status: 404 })).not.toEqual([]);
    expect(answer({ meta, data: {} }, { path: '/nowhere' })).not.toEqual([]);
  });
});
