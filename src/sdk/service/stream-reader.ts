import type { RunWarning } from '../../lib/run-warnings.ts';
import type { PreviewLimits } from '../preview.ts';
import type { ServiceAnswer } from './answer.ts';
import type { ApiClient } from './api-client.ts';
import type { Fields, Partition, ServiceDescription, StreamData } from './description.ts';
import { textOf } from './exact-json.ts';
import type { Moment } from './moment.ts';
import { PageBuffer } from './page-buffer.ts';
import { type PagePiece, PageSeries, type PageSeriesOptions } from './page-series.ts';
import type { Pager } from './paging.ts';
import { valueAt } from './path.ts';
import { readTwice, totalWarning } from './read-twice.ts';
import { type ReportJobOptions, readReport } from './report-job.ts';
import type { RequestData } from './request-data.ts';
import { isUnset } from './service-options.ts';
import {
  cappedInstant,
  Ignored,
  moreIsShown,
  tooManyPages,
  totalFell,
  WatermarkLost,
  watermarkLost,
} from './service-problems.ts';
import type { StreamWatermark } from './stream-watermark.ts';
import type { Scope } from './template.ts';
import { boundOf, endOf, spansOf } from './windows.ts';

/** The options for reading one stream. */
export interface StreamReaderOptions extends Pick<ReportJobOptions, 'signal' | 'log' | 'alive' | 'orders'> {
  readonly api: ApiClient;
  readonly service: Pick<ServiceDescription, 'title' | 'streams'>;
  readonly watermark: StreamWatermark | undefined;
  readonly maxPages: number;
  /** The run's private folder. */
  readonly scratch: string;
  readonly warn: (warning: RunWarning) => void;
  /** Set to read only until the first records. */
  readonly preview?: PreviewLimits | undefined;
}

/** Records that arrived together, with their template variables. */
export interface RecordChunk {
  readonly records: readonly Fields[];
  /** Number of records in the response, before filtering. */
  readonly count: number;
  readonly scope: Scope;
}

/** Reads all pages of all windows of all partitions of a stream, sequentially. */
export class StreamReader {
  readonly #options: StreamReaderOptions;
  #pages = 0;

  constructor(init: StreamReaderOptions) {
    this.#options = init;
  }

  async *read(stream: StreamData, scope: Scope): AsyncGenerator<RecordChunk> {
    for await (const part of this.parts(stream, scope)) {
      for await (const chunk of this.part(stream, part)) {
        yield chunk;
        if (this.#options.preview !== undefined) return;
      }
    }
    if (stream.window !== undefined) this.#options.watermark?.noteEnd(endOf(scope));
  }

  /** The template variables of each partition. */
  async *parts(stream: StreamData, scope: Scope): AsyncGenerator<Scope> {
    const since = this.#options.watermark?.since() ?? scope.since ?? boundOf('start_date', scope);
    yield* this.#combined(Object.entries(stream.partitions ?? {}), { ...scope, since });
  }

  /** The records of one partition. */
  async *part(stream: StreamData, scope: Scope): AsyncGenerator<RecordChunk> {
    try {
      yield* this.#windows(stream, scope);
    } catch (error) {
      if (error instanceof WatermarkLost) throw watermarkLost(error.message);
      if (!(error instanceof Ignored)) throw error;
      this.#options.log.warn('access to this partition denied; skipping it', { because: error.message });
    }
  }

  async *#combined(left: readonly (readonly [string, Partition])[], scope: Scope): AsyncGenerator<Scope> {
    const [first, ...rest] = left;
    if (first === undefined) return yield scope;
    const [name, partition] = first;
    for await (const value of this.#values(partition, scope)) {
      const known = (scope.partition ?? {}) as object;
      yield* this.#combined(rest, { ...scope, partition: { ...known, [name]: value } });
    }
  }

  async *#values(partition: Partition, scope: Scope): AsyncGenerator<unknown> {
    if ('values' in partition) yield* partition.values;
    else if ('option' in partition) yield* items(scope[partition.option]);
    else if (partition.given !== undefined && !isUnset(scope[partition.given])) {
      const [name = ''] = Object.keys(partition.fields);
      for (const item of items(scope[partition.given])) yield { [name]: item };
    } else {
      const stream = 'stream' in partition ? this.#options.service.streams[partition.stream]! : callAsStream(partition);
      const parent = new StreamReader({ ...this.#options, watermark: undefined });
      for await (const { records } of parent.read(stream, scope)) {
        for (const record of records) yield picked(record, partition.fields);
      }
    }
  }

  async *#windows(stream: StreamData, scope: Scope): AsyncGenerator<RecordChunk> {
    if (stream.window === undefined) return yield* this.#places(stream, scope);
    for (const span of spansOf(stream.window, scope, this.#options.watermark?.until())) {
      yield* this.#places(stream, { ...scope, window: span });
    }
  }

  /** Reads from the resume token if there is one that hasn't expired; otherwise, reads from the start. */
  async *#places(stream: StreamData, scope: Scope): AsyncGenerator<RecordChunk> {
    const state = this.#options.watermark?.state(keyOf(scope));
    if (state === undefined) return yield* this.#capped(stream, scope);
    const { incremental } = stream;
    const onward = incremental !== undefined && 'state' in incremental ? incremental.onward : undefined;
    let hasBegun = false;
    try {
      for await (const chunk of this.#series(stream, { ...scope, state }, onward)) {
        hasBegun = true;
        yield chunk;
      }
    } catch (error) {
      if (!(error instanceof WatermarkLost)) throw error;
      if (hasBegun) throw watermarkLost(error.message);
      this.#options.log.warn('the checkpoint has expired: reading everything again', {
        because: error.message,
      });
      yield* this.#capped(stream, scope);
    }
  }

  /**
   * If the service limits the number of records per query, continues with another query that starts at the last record.
   */
  async *#capped(stream: StreamData, scope: Scope): AsyncGenerator<RecordChunk> {
    const { incremental } = stream;
    const { cap, key = [] } = incremental !== undefined && 'column' in incremental ? incremental : {};
    if (cap === undefined) return yield* this.#series(stream, scope);
    const edge = new Edge(key);
    for (let from: Scope | undefined = scope; from !== undefined; ) {
      let records = 0;
      for await (const chunk of this.#series(stream, from)) {
        records += chunk.count;
        yield { ...chunk, records: edge.fresh(chunk.records, this.#cursorOf(stream)) };
      }
      const isAll = records < cap;
      if (!isAll && !edge.hasMoved()) throw cappedInstant(this.#options.service.title, cap, edge.value);
      from = isAll ? undefined : { ...scope, since: edge.value };
    }
  }

  #cursorOf({ incremental }: StreamData): (record: Fields) => string | undefined {
    const { watermark } = this.#options;
    const column = incremental !== undefined && 'column' in incremental ? incremental.column : '';
    return (record) => watermark?.cursorValue(record) ?? textOf(valueAt(record, column));
  }

  /** Reads all pages of one query, after requesting a report if the stream requires one. */
  #series(stream: StreamData, scope: Scope, firstRequest = stream.request): AsyncGenerator<RecordChunk> {
    if (stream.job === undefined) return this.#allPages(stream, scope, firstRequest);
    const given = { ...this.#options, title: this.#options.service.title, stream, scope };
    return readReport(given, (job) => this.#allPages(stream, { ...scope, job }, firstRequest));
  }

  async *#allPages(stream: StreamData, outer: Scope, firstRequest: RequestData): AsyncGenerator<RecordChunk> {
    const { api, watermark, preview, service } = this.#options;
    const { title } = service;
    const options = { api, title, stream, firstRequest, scope: outer, onPage: () => this.#countPage() };
    const { total, pages } = stream.paging ?? {};
    const isHeld = (total ?? pages) !== undefined && preview === undefined;
    const answer = yield* isHeld ? this.#held(options) : this.#streamed(options);
    if (answer !== undefined) watermark?.noteState(keyOf(outer), answer);
  }

  /** Streams records page by page. */
  async *#streamed(options: PageSeriesOptions): AsyncGenerator<RecordChunk, ServiceAnswer | undefined> {
    const series = new PageSeries(options);
    for await (const piece of series.read()) yield this.#met(piece, options.scope);
    const { service, warn } = this.#options;
    if (series.sign !== undefined) warn(moreIsShown(service.title, series.sign));
    return series.answer;
  }

  /** Buffers all pages first, because the reported totals may show that records have moved between pages. */
  async *#held(options: PageSeriesOptions): AsyncGenerator<RecordChunk, ServiceAnswer | undefined> {
    const { scratch, signal, log } = this.#options;
    const held = new PageBuffer({ folder: scratch, signal });
    const pagesBefore = this.#pages;
    const forget = () => {
      held.clear();
      this.#pages = pagesBefore;
    };
    try {
      const { series } = await readTwice(() => filled(held, new PageSeries(options)), { forget, log });
      this.#judgeTotals(series.pager);
      for await (const piece of held.read()) yield this.#met(piece, options.scope);
      return series.answer;
    } finally {
      await held.remove();
    }
  }

  /** Updates the watermark from the records, and drops records that are older than requested. */
  #met({ records, count, page }: PagePiece, outer: Scope): RecordChunk {
    const { watermark } = this.#options;
    const scope: Scope = { ...outer, page };
    if (watermark === undefined) return { records, count, scope };
    watermark.note(records);
    const since = scope.since as Moment | string | undefined;
    const fresh = since === undefined ? records : records.filter((one) => !watermark.isKnown(one, since));
    return { records: fresh, count, scope };
  }

  /**
   * If records were deleted while pages were read, other records may have been skipped. The watermark must not move
   * past skipped records.
   */
  #judgeTotals(pager: Pager): void {
    const { service, watermark, warn } = this.#options;
    if (watermark !== undefined && pager.hasFallen) throw totalFell(service.title);
    const warning = totalWarning({ code: 'SERVICE', title: service.title }, pager);
    if (warning !== undefined) warn(warning);
  }

  #countPage(): void {
    const { maxPages, service, alive } = this.#options;
    if (++this.#pages > maxPages) throw tooManyPages(service.title, maxPages);
    alive();
  }
}

/** Reads the pages of a query into the buffer until all are read or one fails. */
async function filled(held: PageBuffer, series: PageSeries) {
  let problem: unknown;
  try {
    for await (const piece of series.read()) await held.add(piece);
  } catch (error) {
    problem = error;
  }
  return { series, problem, hasChanged: series.pager.hasChanged };
}

/** Drops the second copy of records at the boundary between two queries, because both queries return these records. */
class Edge {
  value: string | undefined;
  readonly #key: Parameters<typeof valueAt>[1];
  #keys = new Set<string>();
  #before: string | undefined;

  constructor(key: Parameters<typeof valueAt>[1]) {
    this.#key = key;
  }

  fresh(records: readonly Fields[], cursorOf: (record: Fields) => string | undefined): Fields[] {
    return records.filter((record) => {
      const key = textOf(valueAt(record, this.#key)) ?? '';
      const cursor = cursorOf(record);
      if (cursor === this.value && this.#keys.has(key)) return false;
      if (cursor !== this.value) this.#keys = new Set();
      this.value = cursor;
      this.#keys.add(key);
      return true;
    });
  }

  hasMoved(): boolean {
    const hasMoved = this.value !== this.#before;
    this.#before = this.value;
    return hasMoved;
  }
}

function* items(option: unknown): Generator<unknown> {
  if (Array.isArray(option)) yield* option;
  else
    yield* String(option ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
}

function picked(record: Fields, fields: Readonly<Record<string, string | readonly string[]>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, path]) => [name, valueAt(record, path)]));
}

function callAsStream(call: Extract<Partition, { request: unknown }>): StreamData {
  const { fields: _, given: _given, ...stream } = call;
  return { about: '', columns: 'discovered', ...stream };
}

function keyOf({ partition }: Scope): string {
  return partition === undefined ? '' : JSON.stringify(partition);
}
