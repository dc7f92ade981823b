import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Manifest, StagedRanges } from '../../src/kept-rows/manifest.ts';
import { type IncomingRows, MergeRun, type MergeRunOptions } from '../../src/kept-rows/merge-run.ts';
import { type Batch, batchOf, batchText, type Value } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';

export const noon = Date.UTC(2026, 5, 15, 12);

export const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'name', type: 'text' },
  { name: 'at', type: 'timestamptz' },
];

export type Row = readonly Value[];

interface Told extends Partial<Omit<IncomingRows, 'columns'>> {
  readonly columns?: readonly Column[];
  readonly asOf?: number;
  readonly staged?: StagedRanges;
  readonly isHeld?: boolean;
  readonly from?: Manifest;
  /** The source's keys, if the kept rows are compared with them, each with or without an integer as its cursor. */
  readonly keys?: readonly Row[];
}

/** A data set with its generations: each run continues from the last one. */
export class Rig {
  readonly folder: string;
  readonly #rule: MergeRunOptions['rule'];
  readonly #more: Partial<MergeRunOptions>;
  manifest: Manifest | undefined;
  /** The lowest cursor of the last run's keys that had no row. */
  missing: string | undefined;
  /** Whether the last run had nothing to send. */
  isIdle = false;
  #runs = 0;

  constructor(rule: MergeRunOptions['rule'], more: Partial<MergeRunOptions> = {}) {
    this.folder = mkdtempSync(join(tmpdir(), 'sluice-sets-'));
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
    this.#rule = rule;
    this.#more = more;
  }

  open(told: Told = {}): MergeRun {
    const current = told.from ?? this.manifest;
    this.#runs += 1;
    return new MergeRun({
      rule: this.#rule,
      folder: this.folder,
      run: `r${this.#runs}`,
      scratch: this.folder,
      asOf: told.asOf ?? noon + this.#runs,
      zone: 'UTC',
      ...(current === undefined ? {} : { current }),
      ...(told.staged === undefined ? {} : { staged: told.staged }),
      ...(told.isHeld === undefined ? {} : { isHeld: told.isHeld }),
      ...this.#more,
    });
  }

  /** One run; returns all rows afterwards. */
  async run(rows: readonly Row[], told: Told = {}): Promise<(string | null)[][]> {
    return this.runBatches([batchOf(told.columns ?? columns, rows)], told);
  }

  async runBatches(batches: readonly Batch[], told: Told = {}): Promise<(string | null)[][]> {
    const run = this.open(told);
    try {
      run.begin({ ...told, columns: told.columns ?? columns });
      for (const batch of batches) await run.take(batch);
      if (told.keys !== undefined) {
        const key = (told.columns ?? columns).filter(({ name }) => this.#rule.key.includes(name));
        const list: Column[] = [...key, { name: 'the cursor', type: 'integer' }];
        const rows = told.keys.map((row) => (row.length === key.length ? [...row, 0] : row));
        run.beginKeys(list);
        await run.takeKeys(batchOf(list, rows));
        await run.endKeys();
      }
      this.isIdle = run.isIdle;
      await run.merge();
      const all: (string | null)[][] = [];
      for (let batch = await run.next(); batch !== undefined; batch = await run.next()) all.push(...batchText(batch));
      this.manifest = await run.seal();
      this.missing = run.missing;
      return all;
    } finally {
      await run.close();
    }
  }

  /** The rows of a range that was read again, as one file. */
  async stage(rows: readonly Row[], told: Told): Promise<StagedRanges> {
    const run = this.open(told);
    try {
      run.begin({ ...told, columns: told.columns ?? columns });
      await run.take(batchOf(told.columns ?? columns, rows));
      return await run.stage();
    } finally {
      await run.close();
    }
  }
}
