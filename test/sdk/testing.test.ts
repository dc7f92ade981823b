import { closeSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Batch, batchOf, type Connector, defineConnector, option, Problem, type Value } from '#sdk';
import { connectorKit, hostileValues, type Kit, type TestSource, type World } from '#sdk/testing';

const columns = [
  { name: 'id', type: 'integer' },
  { name: 'note', type: 'text' },
] as const;

const keyColumns = [columns[0], { name: 'cursor', type: 'integer' }] as const;

const manyBatches = 110;
const note = 'x'.repeat(240);
let shelf: [number, string][] = [];

/** All flaws that this connector can have, off by default. Each makes one check fail. */
interface Flaws {
  readonly mute?: boolean;
  readonly blind?: boolean;
  readonly deaf?: boolean;
  readonly hasty?: boolean;
  readonly leaky?: boolean;
  readonly hoarding?: boolean;
  readonly talkative?: boolean;
  readonly forgetful?: boolean;
  readonly sloppy?: boolean;
  readonly moody?: boolean;
  readonly vague?: boolean;
  readonly plain?: boolean;
  readonly deceived?: boolean;
  readonly scant?: boolean;
  readonly stubborn?: boolean;
  readonly keyless?: boolean;
}

const source = {
  shelf: option.text({ required: true, about: 'Which shelf to read.', example: 'top' }),
  password: option.text({ about: 'The word that opens it.', secret: true, example: 'sesame' }),
};
const query = {
  table: option.choice(['few', 'many', 'hostile', 'news'], { about: 'What to read.', default: 'few' }),
};

/** A connector that passes all checks except for its flaws. */
function shelfWith(flaws: Flaws = {}): Connector {
  const kept: Buffer[] = [];
  let reads = 0;
  function meet({ password, shelf: name }: { password: string | undefined; shelf: string }): void {
    if (name === 'gone' && flaws.plain) throw new Error('gone');
    if (name === 'gone') throw new Problem({ code: 'SHELF_GONE', family: 'try_later', message: 'the shelf is gone' });
    if (password === 'sesame-open' || flaws.blind) return;
    const next = flaws.vague ? {} : { next: 'Set another password' };
    throw new Problem({ code: 'SHELF_CLOSED', family: 'login', message: 'the shelf stays closed', ...next });
  }
  async function* batches(table: string, after: number, signal: AbortSignal): AsyncGenerator<Batch> {
    const handle = openSync(import.meta.filename, 'r');
    try {
      for (const rows of tables(table, after)) {
        while (flaws.hoarding && kept.length < 30) kept.push(Buffer.alloc(1_000_000));
        await wait(0);
        if (!flaws.deaf) signal.throwIfAborted();
        yield batchOf(flaws.hasty ? [...columns] : columns, rows);
      }
    } finally {
      if (!flaws.leaky) closeSync(handle);
      kept.length = 0;
    }
  }
  function* tables(table: string, after: number): Generator<(readonly Value[])[]> {
    if (table === 'few' || table === 'news') {
      const rows = shelf.filter(([id]) => id > (flaws.forgetful ? 0 : after));
      yield flaws.moody && reads++ % 2 === 1 ? rows.slice(1) : rows;
    }
    if (table === 'hostile') yield hostileValues.map((value, i) => [i, flaws.sloppy ? value.trim() : value]);
    if (table === 'many') for (let b = 0; b < manyBatches; b++) yield Array.from({ length: 1000 }, (_, i) => [i, note]);
  }
  async function* keys(): AsyncGenerator<Batch> {
    yield batchOf(
      keyColumns,
      shelf.slice(flaws.scant ? 1 : 0).map(([id]) => [id, id]),
    );
  }
  return defineConnector({
    id: 'shelf',
    title: 'Shelf',
    summary: 'Reads what lies on a shelf.',
    source,
    query,
    resumes: 'By the highest id that was read.',
    readsKeys: ({ table }) => table === 'news',
    example: 'sources: {s: {connector: shelf}}\njobs: {j: {source: s}}',
    async check({ source: given, log }) {
      if (flaws.talkative) log.info(`opening with ${JSON.stringify({ word: given.password?.split('').reverse() })}`);
      if (flaws.talkative) log.info('opening', { hint: 'clear-text-hint' });
      meet(given);
      return flaws.mute ? '' : 'the shelf is there';
    },
    async extract({ source: given, query: { table }, signal, watermark = '0' }) {
      if (!flaws.deaf) signal.throwIfAborted();
      meet(given);
      const after = table === 'news' ? Number(watermark) : 0;
      let missing = Number.POSITIVE_INFINITY;
      return {
        columns,
        batches: batches(table, after, signal),
        watermark: () => (table === 'news' ? String(Math.min(shelf.length, missing - 1)) : undefined),
        unchanged: () => table === 'news' && (flaws.deceived === true || after === shelf.length),
        readKeys: flaws.keyless
          ? undefined
          : async () => ({
              columns: keyColumns,
              batches: keys(),
              onMissing: (cursor) => {
                if (!flaws.stubborn) missing = Number(cursor);
              },
            }),
      };
    },
  }) as unknown as Connector;
}

function worldWith(changed: Partial<TestSource> = {}, waived: World['waived'] = {}): World {
  return {
    waived,
    open: async () => {
      shelf = [
        [1, 'a'],
        [2, 'b'],
      ];
      return {
        source: { shelf: 'top', password: 'sesame-open' },
        query: {},
        columns,
        rows: [
          ['1', 'a'],
          ['2', 'b'],
        ],
        secrets: ['clear-text-hint'],
        refused: [{ query: { table: 'all' }, option: 'table' }],
        credentials: { source: { password: 'wrong-word' } },
        unreachable: { source: { shelf: 'gone' } },
        hostile: { query: { table: 'hostile' }, names: ['note'] },
        many: { query: { table: 'many' }, rows: manyBatches * 1000 },
        resume: {
          query: { table: 'news' },
          key: ['id'],
          grow: async () => {
            shelf.push([3, 'c']);
            return [['3', 'c']];
          },
        },
        ...changed,
      };
    },
  };
}

/** The names of the failed checks, with their messages. */
async function failuresOf(kit: Kit, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const failures: string[] = [];
  for (const { name, run } of kit.checks.slice(0, most)) {
    await run().catch((error: Error) => failures.push(`${name}: ${error.message}`));
  }
  await kit.close();
  return failures;
}

describe('the standard suite', () => {
  it('accepts a connector that passes all checks', async () => {
    const kit = connectorKit(shelfWith(), worldWith(), { file: '/somewhere/shelf.ts' });
    expect(kit.checks.length).toBeGreaterThan(18);
    expect(await failuresOf(kit)).toEqual([]);
  });

  it.each<[string, Flaws, RegExp]>([
    ['returns nothing from check', { mute: true }, /^reports the result of a check .* is not a sentence/],
    [
      'accepts wrong credentials',
      { blind: true },
      /^reports wrong credentials .*succeeded instead of throwing a Problem of family login/,
    ],
    ['throws an unclassified error', { plain: true }, /^distinguishes an unreachable server .*only a Problem/],
    ["doesn't say how to fix a login", { vague: true }, /^reports wrong credentials .*what to do next/],
    [
      'creates a columns array for each batch',
      { hasty: true },
      /^returns the declared columns .*the columns array of a batch is not the array of its extract/,
    ],
    ['returns other rows the second time', { moody: true }, /^returns the same rows/],
    ['trims what it reads', { sloppy: true }, /^returns unusual names/],
    [
      'starts from the beginning in every run',
      { forgetful: true },
      /^continues from its watermark .*reports no changes but returns rows/,
    ],
    [
      'reports no changes although there are some',
      { deceived: true },
      /^continues from its watermark .*no watermark to compare with/,
    ],
    ['leaves out a key', { scant: true }, /^lists the keys .*other keys than the rows/],
    ["doesn't read a missing row again", { stubborn: true }, /^lists the keys .*the next run did not read it/],
    ['promises a list of keys but has none', { keyless: true }, /^lists the keys .*no "readKeys"/],
    ['ignores the stop signal', { deaf: true }, /^does not start .*although it was stopped/],
    ['keeps files open', { leaky: true }, /^leaves nothing open .*testing\.test\.ts/s],
    ['reads too far ahead', { hoarding: true }, /^limits how far it reads ahead .*at most 8000000 are allowed/],
    ['logs a secret', { talkative: true }, /^shows no secret/],
  ])('detects a connector that %s', async (_, flaws, said) => {
    const failures = await failuresOf(connectorKit(shelfWith(flaws), worldWith()));
    expect(failures).toContainEqual(expect.stringMatching(said));
  });

  it('checks declarations: names, units, examples, sentences and the page', async () => {
    const declared = async (changed: Partial<Connector>) =>
      (await failuresOf(connectorKit({ ...shelfWith(), ...changed }, worldWith()), 8)).join('\n');
    const about = 'What this option is for.';
    const named = (name: string, one: Connector['source'][string]) => ({ source: { ...source, [name]: one } });
    expect(await declared(named('maxRows', option.text({ about, example: 'x' })))).toContain('names are snake_case');
    expect(await declared(named('timeout', option.number({ about, default: 3 })))).toContain('timeout_seconds');
    expect(await declared(named('colour', option.text({ about })))).toContain('needs an example or a default');
    expect(await declared(named('colour', option.text({ about: 'hue', example: 'x' })))).toContain(
      '"about" is a sentence',
    );
    expect(await declared(named('size', option.integer({ about, example: 'x' })))).toContain(
      "does not match the option's declaration",
    );
    expect(await declared({ summary: 'things' })).toContain('a summary is a sentence');
    expect(await declared({ example: 'sources: {}' })).toContain('"connector: shelf"');
    expect(await declared({ validate: () => [{ option: 'colour', message: 'is wrong' }] })).toContain(
      'not one of its options',
    );
    expect(await declared({ id: 'other' })).toContain('"connector: other"');
  });

  it("requires every part of the test world, or a reason why it's missing", async () => {
    const bare = {
      open: async () => {
        const { hostile: _, ...rest } = await worldWith().open();
        return rest;
      },
    };
    expect(await failuresOf(connectorKit(shelfWith(), bare))).toEqual([
      expect.stringMatching(/^returns unusual names .*the test source has no "hostile"/),
    ]);
    const waived = connectorKit(shelfWith(), { ...bare, waived: { hostile: 'a shelf has only numbers' } });
    expect(waived.checks.map(({ name }) => name)).toContain('its world waives: hostile (a shelf has only numbers)');
    expect(await failuresOf(waived)).toEqual([]);
    const silent = connectorKit(shelfWith(), { ...bare, waived: { hostile: '' } });
    expect(await failuresOf(silent)).toEqual([expect.stringContaining('"hostile" is waived without a reason')]);
  });

  it('rejects a test world with too little data for the checks', async () => {
    const poor = worldWith({ many: { query: { table: 'few' }, rows: 3 }, refused: [] });
    const failures = (await failuresOf(connectorKit(shelfWith(), poor))).join('\n');
    expect(failures).toContain('the check needs at least 16000000');
    expect(failures).toContain('the world defines no invalid options');
  });

  it("runs the connector's example", async () => {
    const shown = async (example: string) =>
      (await failuresOf(connectorKit({ ...shelfWith(), example }, worldWith()), 15)).join('\n');
    expect(await shown('sources: {s: {connector: shelf}}')).toContain('the example has no job');
    expect(await shown('connector: shelf\njobs: {j: {query: {tabel: few}}}')).toContain(
      'job j: its options are invalid',
    );
  });

  it("accepts a connector whose service is gone if it's declared as retired", async () => {
    const gone = () => {
      throw new Problem({ code: 'SHELF_RETIRED', family: 'config', message: 'it is gone', next: 'use a box' });
    };
    const retired = {
      ...shelfWith(),
      retired: 'Since 2018: shelves are gone. People use boxes.',
      check: gone,
      extract: gone,
    };
    expect(await failuresOf(connectorKit(retired))).toEqual([]);
    expect(await failuresOf(connectorKit({ ...retired, check: async () => 'fine' }))).toEqual([
      expect.stringMatching(/^always reports that its service is discontinued/),
    ]);
    expect(() => connectorKit(shelfWith())).toThrow('has no test world');
  });
});
