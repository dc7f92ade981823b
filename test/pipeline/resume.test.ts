import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type DraftPayload, resumePipeline, runPipeline } from '../../src/pipeline/run-pipeline.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import type { Connector } from '../../src/sdk/connector.ts';
import { transformById } from '../transforms/rig.ts';
import { columns, extractOf, rig, rowsConnector } from './rig.ts';

/** Counts on from its watermark: as many rows as `there` are beyond it. */
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

it('hands the watermark and the zone to the source, and tells how far it got', async () => {
  const { given } = rig(extractOf(counting(3), { timezone: 'Europe/Berlin' }));
  expect(await runPipeline(given)).toMatchObject({ rows: 3, watermark: '3' });
  expect(await resumePipeline({ ...given, watermark: '2' })).toMatchObject({ rows: 1, watermark: '3' });
});

it('makes no payload of what has not changed since the watermark', async () => {
  const { given, heard } = rig(extractOf(counting(3)));
  expect(await resumePipeline({ ...given, watermark: '3' })).toEqual({ unchanged: true, watermark: '3' });
  expect(heard.map(({ name }) => name)).toEqual(['extract.started', 'extract.unchanged']);
  expect(await readdir(given.spool)).toEqual([]);
});

it('keeps nothing of what the instance shows already, and says so once the run is settled', async () => {
  const { given, heard } = rig(extractOf(counting(3)));
  const asked: DraftPayload[] = [];
  const isShown = async (whole: DraftPayload) => {
    asked.push(whole);
    return true;
  };
  expect(await resumePipeline({ ...given, isShown })).toMatchObject({ shown: { rows: 3 } });
  const [{ sha256, bytes } = { sha256: '', bytes: 0 }] = asked;
  expect(asked).toMatchObject([{ rows: 3, watermark: '3', format: 'csv' }]);
  expect(heard.map(({ name }) => name)).toEqual(['extract.started', 'extract.progressed', 'payload.shown']);
  expect(heard.at(-1)?.facts).toMatchObject({ rows: 3, bytes });
  expect(await readdir(given.spool)).toEqual([]);
  const kept = await runPipeline(given);
  expect(kept).toMatchObject({ sha256, bytes });
});

it('keeps what the instance does not show, and what it cannot be asked about fails and leaves nothing', async () => {
  const { given, heard } = rig(extractOf(counting(3)));
  const kept = await resumePipeline({ ...given, isShown: async () => false });
  expect(kept).toMatchObject({ rows: 3, path: expect.stringContaining(given.spool) });
  expect(heard.at(-1)?.name).toBe('payload.spooled');
  const broken = resumePipeline({
    ...given,
    spool: `${given.spool}-2`,
    isShown: () => Promise.reject(new Error('no')),
  });
  await expect(broken).rejects.toMatchObject({ code: 'PIPELINE_THREW' });
  expect(await readdir(`${given.spool}-2`)).toEqual([]);
});

it('takes a source without a watermark for changed, whatever it says', async () => {
  const { given } = rig(extractOf(counting(0)));
  expect(await runPipeline(given)).toMatchObject({ rows: 0 });
});

it('leaves the watermark where it is when not all rows were wanted', async () => {
  const limit = transformById('limit');
  const { given } = rig(extractOf(counting(3), { transforms: [{ transform: limit, given: 1 }] }));
  expect((await runPipeline(given)).watermark).toBeUndefined();
});
