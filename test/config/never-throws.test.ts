import fc from 'fast-check';
import { expect, it } from 'vitest';
import { renderProblem } from '../../src/lib/problem.ts';
import { load } from './fixtures.ts';

/** Words that mean something here, so that random configs get past the first check. */
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

it('whatever a person writes, loading it ends in a config or in faults with a place and a sentence', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(config, tree), async (value) => {
      const { config: loaded, problems, refused } = await load(JSON.stringify(value));
      expect(loaded !== undefined || problems.length > 0).toBe(true);
      for (const problem of problems) {
        expect(problem).toMatchObject({ family: 'config', code: expect.stringMatching(/^CONFIG_[A-Z_]+$/) });
        expect(problem.where.line).toBeGreaterThan(0);
        // The folder's random name may hold anything.
        expect(renderProblem(problem).replaceAll(problem.where.file ?? '', '')).not.toMatch(/undefined|\[object|NaN/);
      }
      for (const name of refused.keys()) expect(loaded?.jobs.has(name) ?? false).toBe(false);
    }),
    // Found once: a value of the wrong kind in a message.
    { numRuns: 400, examples: [[{ jobs: { main: { format: { type: {} } } } }]] },
  );
});

it('arbitrary text is no reason to throw either', async () => {
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
    { numRuns: 300 },
  );
});
