import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { runPipeline } from '../../src/pipeline/run-pipeline.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import type { Connector } from '../../src/sdk/connector.ts';
import { transformById } from '../transforms/rig.ts';
import { columns, extractOf, resultOf, rig, rowsConnector, sealedRun } from './rig.ts';

/** A source that counts on from its watermark: returns the rows after it, up to `there`. */
function counting(there: number): Connector {
  return {
    ...rowsConnector(),
    resumes: 'The watermark is the last id.',
    extract: async ({ watermark = '0', timezone }) => {
      const from = Number(watermark);
      const rows = Array.from({ length: there - from }, (_, i) => [from + i + 1, timezone ?? null]);
      return {
        columns,
        batches: (async function* () {
          if (rows.length > 0) yield batchOf(columns, rows);
        })(),
        watermark: () => String(there),
        unchanged: () => rows.length === 0,
      };
    },
  };
}

it('a run passes the watermark and the time zone to the source, and returns the new watermark', async () => {
  const { given } = rig(extractOf(counting(3), { timezone: 'Europe/Berlin' }));
  expect(await sealedRun(given)).toMatchObject({ rows: 3, watermark: '3' });
  expect(await runPipeline({ ...given, watermark: '2' })).toMatchObject({ rows: 1, watermark: '3' });
});

it('a run creates no payload if nothing has changed since the watermark', async () => {
  const { given, heard } = rig(extractOf(counting(3)));
  expect(await runPipeline({ ...given, watermark: '3' })).toEqual({ unchanged: true, watermark: '3' });
  expect(heard.map(({ name }) => name)).toEqual(['extract.started', 'extract.unchanged']);
  expect(await readdir(given.spool)).toEqual([]);
});

it('a discarded result leaves no files', async () => {
  const { given, heard } = rig(extractOf(counting(3)));
  const draft = resultOf(await runPipeline(given));
  expect(draft).toMatchObject({ rows: 3, watermark: '3', format: 'csv' });
  await draft.discard();
  expect(heard.map(({ name }) => name)).toEqual(['extract.started', 'extract.progressed', 'extract.finished']);
  expect(heard.at(-1)?.facts).toMatchObject({ rows: 3, bytes: draft.bytes });
  expect(await readdir(given.spool)).toEqual([]);
  const { sha256, bytes } = draft;
  expect(await sealedRun(given)).toMatchObject({ sha256, bytes });
});

it.each([3, 200_000])("a sealed result of %i rows stays on disk, even if it's discarded afterwards", async (there) => {
  const { given, heard } = rig(extractOf(counting(there)));
  const draft = resultOf(await runPipeline(given));
  const { path } = await draft.seal();
  expect(heard.at(-1)?.name).toBe('payload.spooled');
  await draft.discard();
  expect(await readdir(given.spool)).toEqual([basename(path)]);
});

it("a discarded result is deleted even if it's large", async () => {
  const { given } = rig(extractOf(counting(200_000)));
  const draft = resultOf(await runPipeline(given));
  expect(await readdir(given.spool)).toHaveLength(1);
  await draft.discard();
  expect(await readdir(given.spool)).toEqual([]);
});

it('a run without an earlier watermark creates a payload even if the source reports no changes', async () => {
  const { given } = rig(extractOf(counting(0)));
  expect(await sealedRun(given)).toMatchObject({ rows: 0 });
});

it("a run that doesn't read all rows doesn't advance the watermark", async () => {
  const limit = transformById('limit');
  const { given } = rig(extractOf(counting(3), { transforms: [{ transform: limit, given: 1 }] }));
  expect((await sealedRun(given)).watermark).toBeUndefined();
});
