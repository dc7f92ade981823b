import { setTimeout as wait } from 'node:timers/promises';
import { sendOnce } from '../../lib/http.ts';
import type { Store } from '../../state/store.ts';
import { bytesText, countText } from '../output/format.ts';
import { clip, printable } from '../output/table.ts';

interface ServiceCall {
  readonly service: string;
  readonly key: string;
}

const timeoutMs = 60_000;
/** Maximum size of a response. The demo's documents are a thousand times smaller. */
const answerLimitBytes = 10_000_000;

/** Calls the service once, as an external client would. If the request is rate-limited, retries it. */
export async function callService<T>(
  given: ServiceCall & { method: 'GET' | 'POST'; path: string; body?: object },
): Promise<T> {
  return JSON.parse(await textOf(given)) as T;
}

async function textOf({ service, key, method, path, body }: Parameters<typeof callService>[0]): Promise<string> {
  for (;;) {
    const { status, text, complete } = await sendOnce({
      url: `${service}${path}`,
      method,
      headers: { 'kf-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeoutMs,
      answerLimitBytes,
    });
    if (status < 300 && complete) return text;
    if (status !== 429) throw new Error(`${method} ${path}: ${status} ${text}`);
    await wait(250);
  }
}

const linesShown = 4;
const widest = 100;

/** Asks the service which data its instances show and how many requests it has counted. */
export async function showArrived(given: ServiceCall & { pulled: string; store: Store }): Promise<void> {
  process.stdout.write('\n5. What the service shows now:\n');
  const targets = await given.store.targets.all();
  const instances = [
    ...targets.map(({ name, instance }) => ({ name, instance })),
    { name: 'Weather', instance: given.pulled },
  ];
  for (const { name, instance } of instances) {
    const text = await dataOf(given, instance);
    const lines = text.split('\n');
    process.stdout.write(`\n   ${name}: ${bytesText(Buffer.byteLength(text))}\n`);
    for (const line of lines.slice(0, linesShown)) process.stdout.write(`     ${clip(printable(line), widest)}\n`);
    if (lines.length > linesShown + 1)
      process.stdout.write(`     … ${countText(lines.length - linesShown - 1)} more lines\n`);
  }
  await showUsage(given);
}

/** Refreshes are only queued, so the first responses may arrive before the data has been refreshed. */
async function dataOf(given: ServiceCall, instance: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await textOf({ ...given, method: 'GET', path: `/datasource-instances/${instance}/data?raw=true` });
    } catch (error) {
      if (attempt >= 20) throw error;
      await wait(250);
    }
  }
}

interface Usage {
  readonly data: { readonly overview: readonly { readonly api_usage: string; readonly api_limit: string }[] };
}

async function showUsage(given: ServiceCall): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const path = `/usage-overview/api-usage?start_date=${now - 86_400}&end_date=${now + 86_400}`;
  const { data } = await callService<Usage>({ ...given, method: 'GET', path });
  const today = data.overview.at(-1);
  if (today === undefined) return;
  process.stdout.write(
    `\n   The service counted ${countText(Number(today.api_usage))} of ${countText(Number(today.api_limit))} requests today, including this one.\n`,
  );
}
