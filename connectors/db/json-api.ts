import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Client } from 'undici';
import { brokenProtocol } from './broken-protocol.ts';

const unzip = promisify(gunzip);

/** A request to an API whose requests and responses are JSON. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Sends one request, and reads the whole response, which may have any status. Throws the connection's error. */
export async function sendJson(
  client: Client,
  { method, path, headers, body }: JsonRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await client.request({
    method,
    path,
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'gzip' },
    ...(body === undefined ? {} : { body }),
    signal,
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const text = String(response.headers['content-encoding'] === 'gzip' ? await unzip(bytes) : bytes);
  return { status: response.statusCode, text };
}

/** A successful response as a value. Throws `DB_PROTOCOL` if it isn't JSON, as a proxy's page isn't. */
export function parsedAnswer<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw brokenProtocol('a response that is not JSON');
  }
}
