import { HttpAgent, sendRequest } from '../lib/http.ts';
import { retryAfterMs } from '../lib/passing-answer.ts';
import { excerpt } from '../lib/redact.ts';
import { networkWords, seenIn } from '../sdk/network.ts';
import type { Sent, Surroundings } from './channel.ts';

interface Call {
  /** As the user wrote it. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeout_seconds: number;
}

/** More of an answer is not worth showing. */
const mostShown = 200;
const answerLimitBytes = 16_384;

/** One request on a connection of its own; any 2xx is good. Nobody is followed elsewhere: a redirect is told. */
export async function callUrl({ url, timeout_seconds, ...call }: Call, { signal, now }: Surroundings): Promise<Sent> {
  const timeoutMs = timeout_seconds * 1000;
  const agent = new HttpAgent({ connectTimeoutMs: timeoutMs });
  try {
    const answer = await sendRequest({ agent, url, ...call, timeoutMs, answerLimitBytes, signal });
    const said = `answered ${answer.status}${shown(answer.text)}`;
    if (answer.status >= 200 && answer.status < 300) return { ok: true, said };
    const waitMs = retryAfterMs(answer.headers, now);
    return { ok: false, said, retryAfterMs: waitMs };
  } catch (thrown) {
    const { code, message } = seenIn(thrown);
    return { ok: false, said: `not reached: ${networkWords[code] ?? message}` };
  } finally {
    await agent.destroy();
  }
}

function shown(text: string): string {
  const line = excerpt(text, mostShown);
  return line === '' ? '' : `: ${line}`;
}
