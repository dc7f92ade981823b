import { type OptionSet, option } from '../option.ts';
import type { FileQuery } from '../records/files.ts';
import { recordFaults, recordOptions } from '../records/options.ts';
import type { ServiceDescription, StreamData } from './description.ts';
import { fileDecoding } from './file-table.ts';

/** Words of templates that no option may be called. */
const reserved = ['now', 'login', 'page', 'window', 'since', 'state', 'partition', 'job', 'fields', 'answer'];

/** Options of the source: the service's own, and those that every service has. */
export function sourceOptions({ id, options = {}, version }: ServiceDescription): OptionSet {
  refuseReserved(id, options);
  return {
    ...options,
    ...(version === undefined
      ? {}
      : { api_version: option.text({ about: 'Version of the vendor’s API.', default: version, example: version }) }),
    api_url: option.text({
      about: 'Takes the place of scheme and host in all addresses of the service: a proxy, a sandbox, a stand-in.',
      example: 'https://proxy.example.com',
      pattern: '^https?://',
    }),
    timezone: option.text({
      about: 'IANA zone in which days are reckoned; the zone of the job when absent.',
      example: 'Europe/Berlin',
    }),
    timeout_seconds: option.number({
      about: 'Longest wait for a connection, for the first byte of an answer and between two of its bytes.',
      default: 60,
      minimum: 0.1,
    }),
    retries: option.integer({
      about: 'How often a request is repeated that the service could not answer at the moment.',
      default: 5,
      minimum: 0,
      maximum: 20,
    }),
    max_answer_bytes: option.integer({
      about: 'Most bytes of one answer that is read as a whole; tables and files may be larger together.',
      default: 67_108_864,
      minimum: 1024,
    }),
  };
}

/** Options of the query: which stream, and what the streams take. */
export function queryOptions({ id, streams }: ServiceDescription): OptionSet {
  const names = Object.keys(streams);
  const all = Object.values(streams);
  const own = Object.fromEntries(all.flatMap((stream) => Object.entries(stream.options ?? {})).toReversed());
  refuseReserved(id, own);
  const loose = Object.entries(own).map(([name, one]) => [name, { ...one, required: false }] as const);
  return {
    stream: option.choice(names, {
      about: `What to read: ${aboutAll(streams)}.`,
      default: names[0]!,
      example: names[0],
    }),
    ...Object.fromEntries(loose.toReversed()),
    ...(all.some(isDated) ? dateOptions : {}),
    ...(all.some(isResumable) ? { incremental } : {}),
    ...(all.some(({ columns }) => columns === 'discovered')
      ? { flatten: recordOptions.flatten, types: recordOptions.types }
      : {}),
    max_pages: option.integer({
      about: 'More pages than this are an error, so that a part never passes for the whole.',
      default: 10_000,
      minimum: 1,
    }),
  };
}

const dateOptions: OptionSet = {
  start_date: option.text({
    about: 'First day or instant: a date, or a template such as {{ today - 7d }}.',
    example: '{{ month_start - 1mo }}',
  }),
  end_date: option.text({
    about: 'Last day or instant that counts, for streams that go by spans of time; today when absent.',
    example: '{{ yesterday }}',
  }),
};

const incremental = option.boolean({
  about: 'Only what has changed since the last run. `write` says what becomes of the rows before.',
  default: false,
});

/** Whether a stream goes by dates. */
export function isDated({ window, incremental: resumes }: StreamData): boolean {
  return window !== undefined || (resumes !== undefined && 'column' in resumes);
}

/** Whether a stream can go on where the last run ended. */
export function isResumable(stream: StreamData): boolean {
  const isFile = fileDecoding(stream)?.modified !== undefined;
  return isFile || stream.incremental !== undefined || stream.window !== undefined;
}

interface Fault {
  readonly option: string;
  readonly message: string;
}

/** What the query leaves out that its stream needs, and what it says that only other streams understand. */
export function queryFaults({ streams }: ServiceDescription, query: Readonly<Record<string, unknown>>): Fault[] {
  const name = String(query.stream);
  const stream = streams[name];
  if (stream === undefined) return [];
  const own = stream.options ?? {};
  const missing = Object.keys(own).filter((key) => own[key]!.required && isUnset(query[key]));
  const foreign = Object.values(streams)
    .flatMap(({ options = {} }) => Object.entries(options))
    .filter(([key, { default: usual }]) => !Object.hasOwn(own, key) && !isUnset(query[key]) && query[key] !== usual);
  return [
    ...missing.map((key) => ({ option: key, message: `the stream ${name} needs it` })),
    ...[...new Set(foreign.map(([key]) => key))].map((key) => ({
      option: key,
      message: `the stream ${name} has no use for it`,
    })),
    ...['start_date', 'end_date']
      .filter((key) => !isUnset(query[key]) && !(key === 'start_date' ? isDated(stream) : stream.window !== undefined))
      .map((key) => ({ option: key, message: `the stream ${name} has no use for it` })),
    ...(query.incremental === true && !isResumable(stream)
      ? [{ option: 'incremental', message: `the stream ${name} cannot tell what has changed` }]
      : []),
    ...(fileDecoding(stream) === undefined ? [] : recordFaults(query as FileQuery)),
  ];
}

/** Whether an option says nothing. */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

function aboutAll(streams: ServiceDescription['streams']): string {
  return Object.entries(streams)
    .map(([name, { about }]) => `\`${name}\` (${about.replace(/\.$/, '')})`)
    .join(', ');
}

function refuseReserved(id: string, options: OptionSet): void {
  const taken = Object.keys(options).find((name) => reserved.includes(name));
  if (taken !== undefined) throw new Error(`service ${id}: an option cannot be called "${taken}"`);
}
