import assert, { fail } from 'node:assert/strict';
import type { Connector } from '../connector.ts';
import { withDefaults } from '../option.ts';
import { Bench } from './bench.ts';
import { type Check, type Promised, problemOf } from './check.ts';
import { comparedKeysCheck } from './compared-keys-check.ts';
import { connectingChecks } from './connecting-checks.ts';
import { declaredChecks } from './declared.ts';
import { readingChecks } from './reading-checks.ts';
import { stoppingChecks } from './stopping-checks.ts';
import type { TestSource, World, WorldPart } from './world.ts';

/** The standard suite for one connector with one test setup (world). */
export interface Kit {
  /** The checks. Run them sequentially, in this order, with any test runner. */
  readonly checks: readonly Check[];
  /** Stops the test source. Call this after the last check. */
  close(): Promise<void>;
}

/** What the suite can't derive from the connector. */
export interface KitOptions {
  /** The connector's file, as a path or URL (`import.meta.resolve('./acme.ts')`); its name must equal the ID. */
  readonly file?: string;
}

/**
 * The standard suite that every connector must pass, built-in or third-party: declarations, invalid options, connection
 * checks, declared rows, replay, hostile content, resuming, stopping, backpressure, secrets. It works with any test
 * runner:
 *
 *     const kit = connectorKit(acme, world, { file: import.meta.resolve('./acme.ts') });
 *     for (const { name, run } of kit.checks) test(name, run);
 *     after(kit.close);
 *
 * A connector for a discontinued service (`retired`) needs no world.
 */
export function connectorKit(connector: Connector, world?: World, { file }: KitOptions = {}): Kit {
  const declared = declaredChecks(connector, file);
  if (connector.retired !== undefined)
    return { checks: [...declared, goneCheck(connector)], close: async () => undefined };
  if (world === undefined) throw new Error(`the connector "${connector.id}" has no test world`);
  const meeting = meet(connector, world);
  const promised = [...connectingChecks, ...readingChecks, comparedKeysCheck, ...stoppingChecks, secretCheck].filter(
    ({ needs }) => needs !== 'resume' || connector.resumes !== undefined,
  );
  const checks = promised.map((check) => checkOf(check, { world, meeting }));
  return {
    checks: [...declared, waiverCheck(world), ...checks.filter((check) => check !== undefined)],
    close: meeting.close,
  };
}

interface Meeting {
  bench(): Promise<Bench>;
  close(): Promise<void>;
}

/** Starts the test source once, when the first check needs it. */
function meet(connector: Connector, world: World): Meeting {
  let place: Promise<TestSource> | undefined;
  let bench: Promise<Bench> | undefined;
  return {
    bench: () => {
      place ??= world.open();
      bench ??= place.then((opened) => new Bench(connector, opened));
      return bench;
    },
    close: async () => await (await place)?.close?.(),
  };
}

/** The check for this world; undefined if the world waives the part that the check needs. */
function checkOf(
  { name, needs, look }: Promised,
  { world, meeting }: { world: World; meeting: Meeting },
): Check | undefined {
  if (needs !== undefined && world.waived?.[needs] !== undefined) return undefined;
  return {
    name,
    run: async () => {
      const bench = await meeting.bench();
      const isThere = needs === undefined || needs === 'example' || bench.place[needs] !== undefined;
      if (!isThere) fail(`the test source has no "${needs}"; add it, or explain under "waived" why that is impossible`);
      await look(bench);
    },
  };
}

/** A check whose title lists the waived parts, so that every report shows them. */
function waiverCheck({ waived = {} }: World): Check {
  const waivers = (Object.entries(waived) as [WorldPart, string][]).map(([part, why]) => `${part} (${why})`);
  return {
    name: waivers.length === 0 ? 'its world waives nothing' : `its world waives: ${waivers.join('; ')}`,
    run: async () => {
      for (const [part, why] of Object.entries(waived))
        assert.match(why, /\S+ \S+/, `"${part}" is waived without a reason`);
    },
  };
}

/**
 * This check must be the last, because it inspects the output of all previous checks. It also causes some output
 * itself.
 */
const secretCheck: Promised = {
  name: 'shows no secrets in log lines, check results, problems or watermarks',
  async look(bench) {
    const { place, connector } = bench;
    await bench.check();
    await bench.read();
    for (const reading of [place.credentials, place.unreachable]) {
      if (reading !== undefined) await bench.read(reading).catch(() => undefined);
    }
    const secrets = [
      ...(place.secrets ?? []),
      ...secretTexts(connector, bench),
      ...secretTexts(connector, bench, place.credentials),
    ];
    for (const text of bench.leaving()) {
      const seen = secrets.filter((secret) => secret.length >= 4 && text.includes(secret));
      assert.equal(seen.length, 0, `this string contains a secret: ${text.slice(0, 500)}`);
    }
  },
};

function secretTexts(connector: Connector, bench: Bench, reading?: TestSource['credentials']): string[] {
  const { source, query } = bench.given(reading);
  const all = [...Object.entries(connector.source).map(([name, option]) => [option, source[name]] as const)];
  all.push(...Object.entries(connector.query).map(([name, option]) => [option, query[name]] as const));
  return all.flatMap(([{ secret }, value]) => (secret && typeof value === 'string' ? [value] : []));
}

function goneCheck(connector: Connector): Check {
  return {
    name: 'always reports that its service is discontinued, and what to use instead',
    run: async () => {
      const context = {
        source: withDefaults(connector.source, {}),
        query: withDefaults(connector.query, {}),
        folder: '/nowhere',
        scratch: '/nowhere',
        signal: new AbortController().signal,
        log: { debug() {}, info() {}, warn() {} },
        warn() {},
      };
      for (const act of [async () => connector.check(context), async () => connector.extract(context)]) {
        const problem = await problemOf(act(), ['config']);
        assert.ok(problem.next !== undefined, `${problem.code} does not say what to use instead`);
      }
    },
  };
}
