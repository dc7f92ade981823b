import type { HttpAnswer } from '../lib/http.ts';
import { retryAfterMs } from '../lib/passing-answer.ts';
import { excerpt } from '../lib/redact.ts';

/** The service's envelope: `{meta: {success, status, …}, data}`. */
export interface EnvelopeAnswer {
  readonly status: number;
  /** Whether the request succeeded. */
  readonly success: boolean;
  /**
   * Whether the service itself sent this response: its body is an envelope or empty. Proxies and login pages send other
   * bodies.
   */
  readonly recognised: boolean;
  readonly complete: boolean;
  readonly errorCode: string | undefined;
  /** The envelope's error message or, if there's no envelope, the beginning of the body. Redacted and on one line. */
  readonly words: string;
  readonly retryAfterMs: number | undefined;
  /** The time in the `Date` header in epoch milliseconds, accurate to a second. */
  readonly date?: number;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly data: Readonly<Record<string, unknown>>;
}

const shownCharacters = 300;

/**
 * Interprets a response from the service. The service always responds with a JSON envelope (service document, section
 * 1), and only an envelope is trusted. The response to an upload isn't documented (section 4.12), so a 2xx without a
 * body also counts as success, unless its content type is HTML, which suggests a proxy.
 */
export function readAnswer(http: HttpAnswer, now: number): EnvelopeAnswer {
  const envelope = parseObject(http.text);
  const meta = envelope && asObject(envelope.meta);
  const ok = http.status >= 200 && http.status < 300;
  const isPage = /^text\/html\b/i.test(String(http.headers['content-type'] ?? ''));
  const empty = http.complete && !isPage && http.text.trim() === '';
  const date = Date.parse(http.headers.date ?? '');
  const errorCode = typeof meta?.error_code === 'string' ? meta.error_code : undefined;
  return {
    status: http.status,
    success: ok && http.complete && (empty || meta?.success === true),
    recognised: meta !== undefined || empty,
    complete: http.complete,
    errorCode,
    words: wordsOf(meta, http.text),
    retryAfterMs: retryAfterMs(http.headers, now),
    ...(Number.isNaN(date) ? {} : { date }),
    meta: meta ?? {},
    data: (envelope && asObject(envelope.data)) ?? {},
  };
}

function wordsOf(meta: Record<string, unknown> | undefined, text: string): string {
  const reason = typeof meta?.error_desc === 'string' ? meta.error_desc : meta === undefined ? text : '';
  return excerpt(reason, shownCharacters);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The value as an object with string keys; undefined if it's an array or not an object. */
export function asObject(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Record<string, unknown>;
}
