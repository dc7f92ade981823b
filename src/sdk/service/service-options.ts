import { type OptionSet, option } from '../option.ts';
import type { FileQuery } from '../records/files.ts';
import { recordFaults, recordOptions } from '../records/options.ts';
import { fileDecoding, type ServiceDescription, type StreamData } from './description.ts';

/** Names of template variables, which options can't have. */
const reserved = ['now', 'login', 'page', 'window', 'since', 'state', 'partition', 'job', 'fields', 'answer'];

/** The source's options: the service's own options and the common ones. */
export function sourceOptions({ id, options = {}, version }: ServiceDescription): OptionSet {
  refuseReserved(id, options);
  return {
    ...options,
    ...(version === undefined
      ? {}
      : { api_version: option.text({ about: "Version of the vendor's API.", default: version, example: version }) }),
    api_url: option.text({
      about:
        'Replaces the scheme and host in all URLs of the service, for example to use a proxy, a sandbox or a test double.',
      example: 'https://proxy.example.com',
      pattern: '^https?://',
    }),
    timezone: option.text({
      about: "IANA time zone in which days begin and end. Default: the job's time zone.",
      example: 'Europe/Berlin',
    }),
    timeout_seconds: option.number({
      about: 'Timeout for connecting, for the first byte of a response, and for pauses between bytes.',
      default: 60,
      minimum: 0.1,
    }),
    retries: option.integer({
      about: 'Maximum number of retries per request if the service is temporarily unavailable.',
      default: 5,
      minimum: 0,
      maximum: 20,
    }),
    max_answer_bytes: option.integer({
      about:
        'Maximum size in bytes of a single response that is read as a whole; a table or file can be larger in total.',
      default: 67_108_864,
      minimum: 1024,
    }),
  };
}

/** The `query` options: the stream, and the options of all streams. */
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
      about: 'Maximum number of pages. If there are more, the run fails, so that an incomplete result is never sent.',
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
    about: 'Last day or instant to include, for streams that are read by period. Default: today.',
    example: '{{ yesterday }}',
  }),
};

const incremental = option.boolean({
  about: 'Reads only what has changed since the last run. `write` controls what happens to earlier rows.',
  default: false,
});

/** Whether a stream is read in date windows. */
export function isDated({ window, incremental: resumes }: StreamData): boolean {
  return window !== undefined || (resumes !== undefined && 'column' in resumes);
}

/** Whether a stream can resume where the last run ended. */
export function isResumable(stream: StreamData): boolean {
  const isFile = fileDecoding(stream)?.modified !== undefined;
  return isFile || stream.incremental !== undefined || stream.window !== undefined;
}

interface Fault {
  readonly option: string;
  readonly message: string;
}

/** Errors in a query: missing options of its stream, and options that only other streams have. */
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
    ...missing.map((key) => ({ option: key, message: `is required by the ${name} stream` })),
    ...[...new Set(foreign.map(([key]) => key))].map((key) => ({
      option: key,
      message: `is not used by the ${name} stream`,
    })),
    ...['start_date', 'end_date']
      .filter((key) => !isUnset(query[key]) && !(key === 'start_date' ? isDated(stream) : stream.window !== undefined))
      .map((key) => ({ option: key, message: `is not used by the ${name} stream` })),
    ...(query.incremental === true && !isResumable(stream)
      ? [{ option: 'incremental', message: `is not supported: the ${name} stream does not report changes` }]
      : []),
    ...(fileDecoding(stream) === undefined ? [] : recordFaults(query as FileQuery)),
  ];
}

/** Whether an option is unset. */
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
  if (taken !== undefined) throw new Error(`service ${id}: an option cannot be named "${taken}"`);
}
