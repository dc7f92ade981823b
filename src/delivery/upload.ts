import type { Credentials, Destination } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { type HttpAgent, sendRequest } from '../lib/http.ts';
import type { OutboxRow } from '../state/tables.ts';
import { readAnswer } from './answer.ts';
import { payloadBody } from './payload-body.ts';
import type { RequestOutcome } from './retry.ts';

const answerLimitBytes = 64 * 1024;

/** The path of an instance's data, relative to the base URL. */
export function dataPath({ instance, client_id }: Pick<OutboxRow, 'instance' | 'client_id'>): string {
  const query = client_id === '' ? '' : `?client_id=${encodeURIComponent(client_id)}`;
  return `/datasource-instances/${encodeURIComponent(instance)}/data${query}`;
}

/** The service's authentication headers (service document, section 5). */
export function credentialHeaders(credentials: Credentials): Record<string, string> {
  if (credentials.kind === 'api_key') return { 'kf-api-key': credentials.key };
  const pair = Buffer.from(`${credentials.user}:${credentials.password}`, 'utf8').toString('base64');
  return { authorization: `Basic ${pair}` };
}

/**
 * Uploads a payload with one PUT request, streamed from its file. A response that arrives before the end of the upload
 * is treated like any other.
 */
export async function upload(
  row: OutboxRow,
  given: { agent: HttpAgent; destination: Destination; clock: Clock; signal: AbortSignal; beforeSent: () => void },
): Promise<RequestOutcome> {
  const { agent, destination, clock, signal, beforeSent } = given;
  try {
    const http = await sendRequest({
      agent,
      method: 'PUT',
      url: destination.url + dataPath(row),
      headers: {
        ...credentialHeaders(destination.credentials),
        accept: 'application/json',
        'content-type': row.media_type,
        'content-length': String(row.bytes),
      },
      body: await payloadBody(row),
      timeoutMs: destination.timeoutMs,
      answerLimitBytes,
      signal,
      beforeSent,
    });
    return { answer: readAnswer(http, clock.now()) };
  } catch (error) {
    return { error };
  }
}
