import { sendOnce } from '../lib/http.ts';
import { networkWords, seenIn } from '../lib/network.ts';
import { retryAfterMs } from '../lib/passing-answer.ts';
import { excerpt } from '../lib/redact.ts';
import type { Sent, Surroundings } from './channel.ts';

interface Call {
  /** As written in the config. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

/** Maximum number of characters of a response to show. */
const maxShown = 200;
const answerLimitBytes = 16_384;

/**
 * Sends one request over a connection of its own. Any status code from 200 to 299 is a success. Redirects aren't
 * followed.
 */
export async function callUrl({ url, timeoutMs, ...call }: Call, { signal, now }: Surroundings): Promise<Sent> {
  try {
    const answer = await sendOnce({ url, ...call, timeoutMs, answerLimitBytes, signal });
    const message = `HTTP ${answer.status}${shown(answer.text)}`;
    if (answer.status >= 200 && answer.status < 300) return { ok: true, message };
    const waitMs = retryAfterMs(answer.headers, now);
    return { ok: false, message, retryAfterMs: waitMs };
  } catch (thrown) {
    const { code, message } = seenIn(thrown);
    return { ok: false, message: `could not be reached: ${networkWords[code] ?? message}` };
  }
}

function shown(text: string): string {
  const line = excerpt(text, maxShown);
  return line === '' ? '' : `: ${line}`;
}
