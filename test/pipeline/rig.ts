import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Extract } from '../../src/config/config.ts';
import { defineFormat } from '../../src/formats/format.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Events } from '../../src/lib/events.ts';
import { ReplacedCharacters } from '../../src/lib/replaced-characters.ts';
import type { PipelineEvents } from '../../src/pipeline/events.ts';
import type { DraftPayload } from '../../src/pipeline/payload.ts';
import { type PipelineOptions, runPipeline } from '../../src/pipeline/run-pipeline.ts';
import { type Batch, batchOf, batchText, type Value } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { type Connector, defineConnector, type ExtractContext } from '../../src/sdk/connector.ts';
import type { OptionSet } from '../../src/sdk/option.ts';

export const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'name', type: 'text' },
];

/** A format that is easy to read in a test: one line per row, with bars between cells and a dash for null. */
export const barFormat = defineFormat({
  id: 'csv',
  title: 'Bars',
  summary: 'For tests.',
  mediaType: 'text/plain',
  fileEnding: '.csv',
  options: {},
  isForDatasources: true,
  readBack: () => ({ format: 'csv', delimiter: '|' }),
  encoder: (columnsOut) => ({
    begin: (out) => out.text(`${columnsOut.map((column) => column.name).join('|')}\n`),
    batch: (batch, out) => {
      for (const row of batchText(batch)) out.text(`${row.map((cell) => cell ?? '-').join('|')}\n`);
    },
    end: (out) => out.text('.\n'),
    replaced: new ReplacedCharacters(),
  }),
});

type AnyContext = ExtractContext<OptionSet, OptionSet>;

/** A connector whose batches come from the test's generator. */
export function connectorOf(
  batches: (context: AnyContext) => AsyncIterable<Batch>,
  sourceColumns: readonly Column[] = columns,
): Connector {
  return defineConnector({
    id: 'test',
    title: 'Test',
    summary: 'Made by a test.',
    source: {},
    query: {},
    check: async () => 'fine',
    extract: async (context) => ({ columns: sourceColumns, batches: batches(context) }),
  });
}

export function extractOf(connector: Connector, more: Partial<Extract> = {}): Extract {
  return {
    source: { name: 'shop', connector, options: {} },
    query: {},
    transforms: [],
    format: barFormat,
    formatOptions: {},
    stallTimeoutMs: 0,
    ...more,
  };
}

/** A source with one batch per list of rows. */
export function rowsConnector(...lists: readonly (readonly (readonly Value[])[])[]): Connector {
  return connectorOf(async function* () {
    for (const rows of lists) yield batchOf(columns, rows);
  });
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pipeline-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Heard {
  readonly name: keyof PipelineEvents;
  readonly facts: PipelineEvents[keyof PipelineEvents];
}

/** Everything that runPipeline needs, and the events that it emitted. */
export function rig(extract: Extract, more: Partial<PipelineOptions> = {}): { given: PipelineOptions; heard: Heard[] } {
  const heard: Heard[] = [];
  const events = new Events<PipelineEvents>();
  events.listen((name, facts) => heard.push({ name, facts }));
  const log = { debug: () => {}, info: () => {}, warn: () => {} };
  const given: PipelineOptions = {
    extract,
    folder: '/',
    spool: join(temporaryFolder(), 'payloads'),
    signal: new AbortController().signal,
    clock: systemClock,
    emit: events.emit,
    log,
    warn: () => {},
    job: 'orders',
    run: 'r1',
    ...more,
  };
  return { given, heard };
}

/** A run whose result is sealed as if it were to be sent, and the other facts about it. */
export async function sealedRun(given: PipelineOptions) {
  const { seal, discard: _, ...draft } = resultOf(await runPipeline(given));
  return { ...draft, ...(await seal()) };
}

/** The result of a run that must have one. */
export function resultOf(result: Awaited<ReturnType<typeof runPipeline>>): DraftPayload {
  if ('unchanged' in result) throw new Error('nothing has changed');
  return result;
}
