import { sendRequest } from '../lib/http.ts';
import { readAnswer } from './answer.ts';
import type { Gateway } from './gateway.ts';
import type { RequestOutcome } from './retry.ts';
import type { SendGate } from './send-gate.ts';
import { credentialHeaders } from './upload.ts';

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface ApiRequest {
  readonly gateway: Gateway;
  readonly gate: SendGate;
  readonly method: ApiMethod;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly beforeSent: () => void;
}

const answerLimitBytes = 8 * 1024 * 1024;

/** Sends one request to the service's API through a gate. Never rejects: errors are returned as outcomes. */
export async function apiRequest({ gateway, gate, ...asked }: ApiRequest): Promise<RequestOutcome> {
  const { destination, agent } = gate;
  const { method, path, query, body, signal, beforeSent } = asked;
  try {
    const http = await sendRequest({
      agent,
      method,
      url: destination.url + path + searchOf(query),
      headers: {
        ...credentialHeaders(destination.credentials),
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeoutMs: destination.timeoutMs,
      answerLimitBytes,
      signal,
      beforeSent,
    });
    return { answer: readAnswer(http, gateway.clock.now()) };
  } catch (error) {
    return { error };
  }
}

function searchOf(query: ApiRequest['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}
