import { isBefore } from '../cursor/cursor-value.ts';
import { pick, type ServiceAnswer } from './answer.ts';
import type { ColumnData, Discovery } from './column-data.ts';
import type { Fields, StreamData } from './description.ts';
import { textOf } from './exact-json.ts';
import { Moment, readMoment } from './moment.ts';
import { type ValuePath, valueAt } from './path.ts';
import { cursorOf } from './ranges.ts';
import '../../lib/temporal.ts';

/** Maximum number of remembered keys. */
const maxEdge = 10_000;

/** A watermark's content. Which fields are set depends on how the stream resumes. */
interface StreamState {
  /** The highest value in the cursor column. */
  since?: string;
  /** Keys of the records that have the value in `since`. */
  edge?: string[];
  /** End of the last window. */
  until?: string;
  /** The service's resume tokens, by partition. */
  states?: Record<string, string>;
}

/** A stream's watermark: where the last run ended, and how far this run has progressed. */
export class StreamWatermark {
  readonly #stream: StreamData;
  readonly #zone: string;
  readonly #before: StreamState;
  readonly #now: StreamState = {};
  /** Keys of the records with the highest cursor value. */
  readonly #edge = new Set<string>();
  readonly #cursor: { readonly name: string } & Partial<ColumnData>;
  readonly #start: Moment;
  readonly #end: Moment | undefined;

  /** `watermark`: the last run's {@link watermark}; undefined to read everything. `start`: this run's start time. */
  constructor(
    stream: StreamData,
    given: { readonly start: Moment; readonly watermark: string | undefined; readonly until?: Moment | undefined },
  ) {
    this.#stream = stream;
    this.#start = given.start;
    this.#end = given.until;
    this.#zone = given.start.at.timeZoneId;
    this.#before = read(given.watermark);
    const name = cursorOf(stream) ?? '';
    const { columns } = stream;
    const declared = typeof columns !== 'object' ? {} : isDiscovery(columns) ? (columns.always ?? {}) : columns;
    const data = (declared as Readonly<Record<string, string | ColumnData>>)[name];
    this.#cursor = { name, ...(typeof data === 'object' ? data : {}) };
  }

  /** Where this run starts to read: the last cursor value minus the look-back period. Undefined in the first run. */
  since(): Moment | string | undefined {
    const { since } = this.#before;
    if (since === undefined) return undefined;
    const moment = readMoment(since, this.#zone);
    if (moment === undefined) return since;
    return this.#lag === undefined ? moment : moment.plus(`-${this.#lag}`);
  }

  /** Where the last run's windows ended. */
  until(): Moment | undefined {
    return this.#before.until === undefined ? undefined : readMoment(this.#before.until, this.#zone);
  }

  /** The token of a partition. */
  state(partition: string): string | undefined {
    return this.#before.states?.[partition];
  }

  /** Remembers the highest cursor value of these records. */
  note(records: readonly Fields[]): void {
    if (this.#cursor.name === '') return;
    for (const record of records) {
      const value = this.cursorValue(record);
      if (value === undefined) continue;
      const { since } = this.#now;
      if (since === undefined || isLater(value, since, this.#zone)) {
        this.#now.since = value;
        this.#edge.clear();
      }
      if (value === this.#now.since && this.#key !== undefined && this.#edge.size <= maxEdge)
        this.#edge.add(this.#keyOf(record));
    }
  }

  get #key(): ValuePath | undefined {
    return (this.#stream.incremental as { key?: ValuePath } | undefined)?.key;
  }

  #keyOf(record: Fields): string {
    return textOf(valueAt(record, this.#key!)) ?? '';
  }

  /** A record's cursor value as a string, with all digits. */
  cursorValue(record: Fields): string | undefined {
    const { name, at, date, zone = this.#zone } = this.#cursor;
    const value =
      at !== undefined ? valueAt(record, at) : Object.hasOwn(record, name) ? record[name] : valueAt(record, name);
    const text = textOf(value);
    return date === undefined || text === undefined ? text : readMoment(text, zone, date)?.text('iso');
  }

  /**
   * Whether to drop a record because it's older than requested (some services round times), was already read at the
   * boundary, or is at or after the end of the requested range.
   */
  isKnown(record: Fields, since: Moment | string | undefined): boolean {
    const value = since === undefined ? undefined : this.cursorValue(record);
    if (value === undefined) return false;
    if (this.#end !== undefined && !isLater(this.#end.text('iso'), value, this.#zone)) return true;
    if (isLater(since instanceof Moment ? since.text('iso') : since!, value, this.#zone)) return true;
    if (this.#key === undefined || this.#lag !== undefined || value !== this.#before.since) return false;
    return this.#before.edge?.includes(this.#keyOf(record)) ?? false;
  }

  get #lag(): string | undefined {
    return (this.#stream.incremental as { look_back?: string } | undefined)?.look_back;
  }

  /** Remembers the resume token from the last response. */
  noteState(partition: string, answer: ServiceAnswer): void {
    const { incremental } = this.#stream;
    if (incremental === undefined || !('state' in incremental)) return;
    const state = textOf(pick(answer, incremental.state));
    if (state === undefined || state === '') return;
    this.#now.states = { ...this.#now.states, [partition]: state };
  }

  /** Remembers where the windows end. */
  noteEnd(end: Moment): void {
    this.#now.until = end.text();
  }

  /**
   * The highest cursor value, but at most this run's start time minus the settle time, and never less than in the last
   * run.
   */
  #settled(): string | undefined {
    const { since } = this.#now;
    const { settles } = (this.#stream.incremental ?? {}) as { settles?: string };
    if (since === undefined || settles === undefined || readMoment(since, this.#zone) === undefined) return since;
    const limit = this.#start.plus(`-${settles}`).text('iso');
    if (!isLater(since, limit, this.#zone)) return since;
    const { since: before } = this.#before;
    return before !== undefined && isLater(before, limit, this.#zone) ? before : limit;
  }

  /** The watermark for the next run; undefined if there is none. */
  watermark(): string | undefined {
    const since = this.#settled();
    const kept: StreamState = { ...this.#before, ...this.#now, ...(since === undefined ? {} : { since }) };
    const isSame = since === undefined || since === this.#before.since;
    const met = since === this.#now.since ? this.#edge : [];
    const edge = [...new Set([...(isSame ? (this.#before.edge ?? []) : []), ...met])];
    // After a bulk change, a million records may have the same time. To keep the watermark small, their keys aren't
    // listed, so the records are read again.
    if (edge.length > 0 && edge.length <= maxEdge) kept.edge = edge;
    else delete kept.edge;
    if (this.#before.states !== undefined || this.#now.states !== undefined) {
      kept.states = { ...this.#before.states, ...this.#now.states };
    }
    return Object.keys(kept).length === 0 ? undefined : JSON.stringify(kept);
  }
}

function isDiscovery(columns: object): columns is Discovery {
  return 'request' in columns && typeof columns.request === 'object';
}

function read(watermark: string | undefined): StreamState {
  if (watermark === undefined) return {};
  try {
    const mark: unknown = JSON.parse(watermark);
    return typeof mark === 'object' && mark !== null ? (mark as StreamState) : {};
  } catch {
    return {};
  }
}

/**
 * Whether `a` is greater than `b`. If both are numbers or both are instants, they're compared as such; otherwise,
 * they're compared as text.
 */
export function isLater(a: string, b: string, zone: string): boolean {
  if (number.test(a) && number.test(b)) return isBefore({ type: 'decimal', text: b }, { type: 'decimal', text: a });
  const [left, right] = [readMoment(a, zone), readMoment(b, zone)];
  if (left === undefined || right === undefined) return a > b;
  return Temporal.ZonedDateTime.compare(left.at, right.at) > 0;
}

const number = /^-?\d+(?:\.\d+)?$/;
