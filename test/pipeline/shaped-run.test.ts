import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { formats } from '../../src/formats/index.ts';
import { Problem } from '../../src/lib/problem.ts';
import { previewPipeline } from '../../src/pipeline/preview-pipeline.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import { withDefaults } from '../../src/sdk/option.ts';
import { caseOf } from '../formats/encoding.ts';
import { transformById } from '../transforms/rig.ts';
import { columns, connectorOf, extractOf, rig, rowsConnector, sealedRun } from './rig.ts';

const steps = (...list: readonly (readonly [string, unknown])[]) =>
  list.map(([id, given]) => ({ transform: transformById(id), given }));

/** An endless source that counts requests and knows whether it was closed. */
function endless() {
  const state = { batches: 0, closed: false };
  const connector = connectorOf(async function* () {
    try {
      for (; ; state.batches++) {
        yield batchOf(
          columns,
          Array.from({ length: 10 }, (_, r) => [state.batches * 10 + r + 1, `n${r}`]),
        );
      }
    } finally {
      state.closed = true;
    }
  });
  return { state, connector };
}

describe('a run with transforms', () => {
  it("sends the last transform's output, including its columns", async () => {
    const transforms = steps(['compute', { double: 'id * 2' }], ['filter', 'id != 2'], ['rename', { name: 'called' }]);
    const { given } = rig(
      extractOf(
        rowsConnector(
          [
            [1, 'a'],
            [2, 'b'],
          ],
          [[3, null]],
        ),
        { transforms },
      ),
    );
    const payload = await sealedRun(given);
    expect(readFileSync(payload.path, 'utf8')).toBe('id|called|double\n1|a|2\n3|-|6\n.\n');
    expect(payload.rows).toBe(2);
    expect(payload.columns.map(({ name }) => name)).toEqual(['id', 'called', 'double']);
  });

  it('sends the rows that a sort has buffered through the steps that follow', async () => {
    const transforms = steps(
      ['sort', { by: [{ column: 'id', order: 'desc' }] }],
      ['limit', 2],
      ['compute', { x: 'id + 1' }],
    );
    const { given } = rig(
      extractOf(
        rowsConnector(
          [
            [1, 'a'],
            [3, 'b'],
          ],
          [[2, 'c']],
        ),
        { transforms },
      ),
    );
    const payload = await sealedRun(given);
    expect(readFileSync(payload.path, 'utf8')).toBe('id|name|x\n3|b|4\n2|c|3\n.\n');
  });

  it('closes the source as soon as a limit is reached', async () => {
    const { state, connector } = endless();
    const { given, heard } = rig(extractOf(connector, { transforms: steps(['filter', 'id > 5'], ['limit', 7]) }));
    const payload = await sealedRun(given);
    expect(payload.rows).toBe(7);
    expect(state).toEqual({ batches: 1, closed: true });
    expect(heard.find(({ name }) => name === 'extract.finished')!.facts).toMatchObject({ rows: 20 });
  });

  it("doesn't request any rows if the limit is 0", async () => {
    const { state, connector } = endless();
    const { given } = rig(extractOf(connector, { transforms: steps(['limit', 0]) }));
    expect((await sealedRun(given)).rows).toBe(0);
    expect(state.batches).toBe(0);
  });

  it('reports an invalid row by its number in the source, even if earlier rows were dropped', async () => {
    const transforms = steps(['filter', 'id > 15'], ['compute', { x: '1 / (id - 17)' }]);
    const { given } = rig(extractOf(endless().connector, { transforms }));
    const thrown = await sealedRun(given).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Problem);
    expect(thrown).toMatchObject({
      code: 'EXPRESSION_FAILED',
      family: 'row',
      where: { job: 'orders', stage: 'transform 2 (compute)', row: 17, column: 'x' },
      seen: 'id = "17"',
    });
    expect(readdirSync(given.spool)).toEqual([]);
  });

  it("names the step that doesn't match its input columns", async () => {
    const transforms = steps(['select', ['id']], ['filter', 'name == "a"']);
    const { given } = rig(extractOf(rowsConnector([[1, 'a']]), { transforms }));
    await expect(sealedRun(given)).rejects.toMatchObject({
      code: 'EXPRESSION_INVALID',
      family: 'config',
      where: { job: 'orders', stage: 'transform 2 (filter)' },
      allowed: 'id (integer)',
    });
  });

  it.each(formats)('encodes all its rows as $id', async (format) => {
    const transforms = steps(['compute', { name: 'coalesce(name, "<&\\"")', doc: '{"a": [id]}' }], ['sort', 'id']);
    const formatOptions = withDefaults(format.options, {});
    const connector = rowsConnector([[2, 'ü,"\n']], [[1, null]]);
    const { given } = rig(extractOf(connector, { transforms, format, formatOptions }));
    const payload = await sealedRun(given);
    expect(payload.path.endsWith(format.fileEnding)).toBe(true);
    expect((await caseOf(format.id)).rowsOf(readFileSync(payload.path))).toBe(2);
  });
});

describe('a preview', () => {
  const transforms = steps(['filter', 'id <= 30']);

  it('reports the same row count, size, hash and first rows as the run', async () => {
    const connector = connectorOf(async function* () {
      for (let b = 0; b < 5; b++)
        yield batchOf(
          columns,
          Array.from({ length: 10 }, (_, r) => [b * 10 + r + 1, r % 2 ? null : 'x']),
        );
    });
    const { given } = rig(extractOf(connector, { transforms }));
    const { spool: _, ...rest } = given;
    const preview = await previewPipeline({ ...rest, rows: 12 });
    const { sha256, bytes, rows } = await sealedRun(given);
    expect(preview).toMatchObject({ sha256, bytes, rows, rowsRead: 50, format: 'csv', columns });
    expect(preview.firstRows).toHaveLength(12);
    expect(preview.firstRows.slice(0, 2)).toEqual([
      ['1', 'x'],
      ['2', null],
    ]);
  });

  it('leaves no files, even if it fails', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith(`sluice-preview-${process.pid}`));
    for (const filter of ['id > 0', 'id / 0 > 1']) {
      const { given } = rig(extractOf(rowsConnector([[1, 'a']]), { transforms: steps(['filter', filter]) }));
      await previewPipeline({ ...given, rows: 5 }).catch((error: Problem) => expect(error.where.job).toBe('orders'));
      expect(() => readdirSync(given.spool)).toThrow('ENOENT');
    }
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`sluice-preview-${process.pid}`))).toEqual(before);
  });
});
