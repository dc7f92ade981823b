/** An event's documentation: one sentence about the event, and the meaning of each field. */
export interface EventWords<F extends string = string> {
  readonly description: string;
  readonly facts: { readonly [K in F]: string };
}

/** Documentation of every event in a map. A missing or unknown event or field is a compile error. */
export type WordsOf<Events> = { readonly [N in keyof Events & string]: EventWords<keyof Events[N] & string> };

// Fields that have the same meaning in every event.
export const job = 'the job';
export const run = 'run ID, the same in all log lines of the run';
export const source = 'the source';
export const destination = 'the destination';
export const instance = 'the data-source instance';
export const id = 'number of the payload in the outbox';
export const bytes = 'size in bytes';
export const rows = 'number of rows';
export const milliseconds = 'duration';
export const code = 'error code ([errors.md](errors.md))';
export const message = 'the error message';
export const next = 'the fix';
export const account = 'account that requests count against: a name from the config, or a hash';
export const until = 'time when it continues';
export const at = 'planned time of the firing';
export const reason = 'the reason';
export const who = 'the user who decided';
export const why = 'the reason that the user gave';
export const file = 'the config file';
export const payloads = 'number of payloads';
export const firings = 'number of firings';
export const login = 'the login';
export const place = 'the server';
export const user = 'the user that Sluice logs in as';
export const channel = 'the channel';
export const problem = 'the error message';
export const attempt = 'attempt number, starting at 1';
export const method = 'HTTP method of the request';
export const path = 'request path, without the query string';
export const jobs = 'number of jobs in the config';
export const title = 'title of the message';
export const since = 'time when it started';
export const requested = 'number of requested data sources';

export const payload = { id, job, run, destination, instance, sha256: 'hash of the bytes', bytes, rows };
const { id: _, ...withoutId } = payload;
/** The fields that describe a result that never entered the outbox. */
export const unborn = withoutId;
export const trouble = { code, message };
export const by = { who, why };
export const paying = { account, destination };
