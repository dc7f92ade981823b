import { expect, it } from 'vitest';
import { configSchema } from '../../src/config/docs/json-schema.ts';
import { formats } from '../../src/formats/index.ts';
import { renderProblem } from '../../src/lib/problem.ts';
import type { JsonSchema } from '../../src/sdk/option.ts';
import { transforms } from '../../src/transforms/index.ts';
import fc, { runsOf } from '../property.ts';
import { clock, load, warehouse } from './fixtures.ts';

/** Words that mean something in a config, so that random configs pass the first check. */
const words =
  `version state timezone allow_commands connectors destinations sources jobs main shop orders url api_key basic
client_id account requests_per_day source query transforms format target destination schedule enabled instance datasource
refresh shares group user cron connector warehouse clock host port auth headers sql limit csv json type select filter name
http://127.0.0.1/api/1.0 ${'$'}{env:A} ${'$'}{file:b} ${'$'}{ * << __proto__ constructor 0 -1 true`.split(/\s+/);

const scalar = fc.oneof(
  fc.constantFrom(...words),
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double(),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...words), tie('tree'), { maxKeys: 5 }),
  ),
}));
const named = fc.dictionary(fc.constantFrom('main', 'shop', 'orders'), tree, { maxKeys: 3 });
const config = fc.record({ destinations: named, sources: named, jobs: named, timezone: tree }, { requiredKeys: [] });

/** Values that are valid for some options and have the wrong type for most. */
const wrong = fc.constantFrom<unknown>(
  null,
  6,
  -1,
  0.5,
  true,
  '',
  'x',
  '06:00',
  '1d',
  [],
  [6],
  [null],
  [{}],
  {},
  { x: 1 },
);

/** What a user may write for this schema node: usually a valid value, sometimes one of the wrong type. */
function writtenAs(node: JsonSchema): fc.Arbitrary<unknown> {
  const samples = [...((node.examples as unknown[]) ?? []), ...('default' in node ? [node.default] : [])];
  const shown = samples.length === 0 ? [] : [fc.constantFrom(...samples)];
  return fc.oneof({ weight: 8, arbitrary: fc.oneof(fitting(node), ...shown) }, { weight: 1, arbitrary: wrong });
}

function fitting(node: JsonSchema): fc.Arbitrary<unknown> {
  const branches = (node.anyOf ?? node.oneOf) as JsonSchema[] | undefined;
  if (branches !== undefined) return fc.oneof(...branches.map(writtenAs));
  if ('const' in node) return fc.constant(node.const);
  if (Array.isArray(node.enum)) return fc.constantFrom(...node.enum);
  const type = [node.type].flat()[0];
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer' || type === 'number') return fc.constantFrom(0, 1, 5, 1000);
  if (type === 'array') return fc.array(writtenAs((node.items as JsonSchema) ?? {}), { maxLength: 2 });
  return type === 'object' ? mapOf(node) : scalar;
}

/** Some of a map's options, and other members if the map allows any name. */
function mapOf({ properties = {}, required = [], additionalProperties: members }: JsonSchema): fc.Arbitrary<unknown> {
  const named = properties as Record<string, JsonSchema>;
  const others = typeof members === 'object' ? ['main', 'shop', 'orders'] : [];
  const wanted = (required as string[]).filter((name) => Object.hasOwn(named, name));
  const nodeOf = (name: string) => named[name] ?? (members as JsonSchema);
  const known = [...Object.keys(named), ...others];
  return fc
    .subarray(known, { maxLength: Math.min(5, known.length) })
    .chain((names) =>
      fc.record(Object.fromEntries([...new Set([...wanted, ...names])].map((name) => [name, writtenAs(nodeOf(name))]))),
    );
}

const schema = configSchema({ connectors: [warehouse, clock] as never, formats, transforms });
const parts = schema.properties as Record<string, JsonSchema>;
const job = (parts.jobs as { additionalProperties: JsonSchema }).additionalProperties;
const destinations = { main: { url: 'http://127.0.0.1/api/1.0', api_key: 'abcdefabcdef' } };
const sources = { shop: { connector: 'clock' } };
/** A valid config, except for one job or top-level option, which may be anything that the schema describes. */
const declared = fc.oneof(
  writtenAs(job).map((orders) => ({ destinations, sources, jobs: { orders } })),
  mapOf(schema).map((top) => ({ destinations, sources, jobs: {}, ...(top as object) })),
);
/** Values, seen in practice, that must not make any schedule parser throw. */
const schedules = [
  { cron: null },
  { cron: 6 },
  { at: 6 },
  { at: [6] },
  { at: '06:00', days: 1 },
  { every: '5m', misfire: null },
];
const found = [
  ...schedules.map((schedule) => ({ destinations, sources, jobs: { orders: { schedule } } })),
  { destinations, sources, jobs: {}, schedules: { misfire: null } },
  ...[null, { within: 5, column: 'a' }].map((retain) => ({
    destinations,
    sources,
    jobs: { orders: { source: 'shop', write: { disposition: 'merge', key: 'id', retain } } },
  })),
  // Two columns, each invalid in a different way.
  {
    destinations,
    sources,
    jobs: { orders: { source: 'shop', transforms: [{ compute: { a: '', b: { expression: null } } }] } },
  },
  // A value of the wrong type in a message.
  { jobs: { main: { format: { type: {} } } } },
];

it('loading anything that a user writes returns a config, or errors with a location and a message', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(config, tree, declared, declared), async (value) => {
      const { config: loaded, problems, refused } = await load(JSON.stringify(value), { transforms });
      expect(loaded !== undefined || problems.length > 0).toBe(true);
      for (const problem of problems) {
        expect(problem).toMatchObject({ family: 'config', code: expect.stringMatching(/^CONFIG_[A-Z_]+$/) });
        expect(problem.where.line).toBeGreaterThan(0);
        // The folder has a random name, so it may contain any text.
        expect(renderProblem(problem).replaceAll(problem.where.file ?? '', '')).not.toMatch(/undefined|\[object|NaN/);
      }
      for (const name of refused.keys()) expect(loaded?.jobs.has(name) ?? false).toBe(false);
    }),
    { numRuns: runsOf(800), examples: found.map((value) => [value] as [unknown]) },
  );
});

it('loading arbitrary text never throws', async () => {
  const line = fc.tuple(
    fc.constantFrom('', '  ', '    ', '- '),
    fc.constantFrom(...words),
    fc.constantFrom(':', ': ', ' ', ''),
    fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom(...words)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        line.map((parts) => parts.join('')),
        { maxLength: 12 },
      ),
      async (written) => {
        const { config: loaded, problems } = await load(written.join('\n'));
        expect(loaded !== undefined || problems.length > 0).toBe(true);
      },
    ),
    { numRuns: runsOf(300) },
  );
});
