import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import rest from '../../connectors/simple_rest/index.ts';
import type { WriteRule } from '../../src/kept-rows/write-rule.ts';
import type { DraftPayload } from '../../src/pipeline/payload.ts';
import { runPipeline } from '../../src/pipeline/run-pipeline.ts';
import type { RunWarning } from '../../src/sdk/index.ts';
import { contextOf } from '../connectors/harness.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest } from '../journey/process.ts';
import { extractOf, rig, temporaryFolder } from './rig.ts';

type Item = Readonly<Record<string, unknown>>;

let server: TestServer;
/** What the API returns next. */
let items: readonly Item[];

beforeEach(async () => {
  server = await new TestServer().start();
  forTest(() => server.stop());
  server.answer = (_, response) => sendJson(response, items);
});

/** Runs of a job that reads an API, each from where the last one ended. */
function job(write: WriteRule, more: Item = {}) {
  const folder = join(temporaryFolder(), 'sets');
  const asked = { path: '/x', parameters: [{ name: 'since', value: '{{ since }}' }], cursor: 'at', ...more };
  const { source, query } = contextOf(rest, { source: { url: server.url }, query: asked, folder });
  let runs = 0;
  let last: Pick<DraftPayload, 'manifest' | 'watermark'> = {};
  return {
    /** The lines of the result; undefined if nothing changed. */
    run: async (given: readonly Item[]) => {
      items = given;
      const { manifest: current, watermark } = last;
      const run = `r${++runs}`;
      const extract = extractOf(rest as never, {
        source: { name: 'api', connector: rest as never, options: source },
        query,
        write,
      });
      const warnings: RunWarning[] = [];
      const result = await runPipeline({
        ...rig(extract, { run, warn: (one) => warnings.push(one) }).given,
        ...(watermark === undefined ? {} : { watermark }),
        keptRows: { folder, run, mustSend: current === undefined, ...(current === undefined ? {} : { current }) },
      });
      if ('unchanged' in result) return undefined;
      last = { ...result, watermark: result.watermark ?? watermark };
      const { path } = await result.seal();
      return (await readFile(path, 'utf8')).split('\n').slice(0, -2);
    },
  };
}

const merge: WriteRule = { disposition: 'merge', key: ['id'] };

describe('the first run', () => {
  it('can be empty, whatever columns the rule names', async () => {
    const rule: WriteRule = {
      ...merge,
      deleted: 'gone',
      retain: { column: 'at', within: { count: 9e4, unit: 'days' }, rows: 2 },
    };
    const orders = job(rule);
    expect(await orders.run([])).toEqual(['']);
    expect(await orders.run([])).toBeUndefined();
    expect(await orders.run([{ id: 1, at: '2026-01-01', gone: false }])).toEqual(['id|at|gone', '1|2026-01-01|false']);
  });

  it('reports a column that the rule names but no record has', async () => {
    const rule: WriteRule = { ...merge, retain: { column: 'att', within: { count: 90, unit: 'days' } } };
    await expect(job(rule).run([{ id: 1, at: '2026-01-01' }])).rejects.toMatchObject({
      code: 'SET_NO_COLUMN',
      where: { column: 'att' },
    });
  });
});
