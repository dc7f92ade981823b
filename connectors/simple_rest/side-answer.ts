import { type HttpResponse, httpProblem, parseExact, type ServiceAnswer, shownUrl } from '#sdk';
import { cookiePairs } from './login-of.ts';

/** Maximum size of a response that isn't a page, because it's read into memory. */
const maxBytes = 16 * 1024 * 1024;

/** Reads the response to a login call or to a report's call. A location becomes a full URL. */
export async function readSideAnswer({ url, status, headers, body }: HttpResponse): Promise<ServiceAnswer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxBytes) throw tooLarge(url);
    parts.push(part);
  }
  const text = Buffer.concat(parts).toString('utf8');
  const flat = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')] as const);
  const cookies = cookiePairs([headers['set-cookie'] ?? []].flat());
  const location = [headers.location ?? []].flat()[0];
  const to = location === undefined ? null : URL.parse(location, url);
  const own = { ...(cookies && { 'set-cookie': cookies }), ...(to && { location: to.href }) };
  return { url, status, headers: { ...Object.fromEntries(flat), ...own }, body: parsed(text), text };
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function tooLarge(url: URL) {
  return httpProblem('REST_TOO_LARGE', 'job', `${shownUrl(url)} returned more than ${maxBytes} bytes`, {
    next: 'check the URL: this request should return a token or the state of a report, not the data',
  });
}
