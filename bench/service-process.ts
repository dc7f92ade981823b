import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { documentOf, type Format, formats } from './service-documents.ts';
import { middle } from './service-rates.ts';
import { keyOf } from './service-world.ts';

/** `sluice serve`, started from the command line as a user would. */
const main = new URL('../src/cli/sluice.js', import.meta.url).pathname;

export interface Serving {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function serve(folder: string, args: readonly string[]): Promise<Serving> {
  const ready = join(folder, 'ready.json');
  await rm(ready, { force: true });
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--ready-file', ready, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'exit');
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`sluice serve ended with ${child.exitCode}\n${said}`);
    await wait(2);
  }
  const { url, pid } = JSON.parse(await readFile(ready, 'utf8')) as { url: string; pid: number };
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, pid, stop };
}

/** Seconds from process start to the first response. */
export async function measureStarts(folder: string, runs: number): Promise<{ service: number; node: number }> {
  const seconds = { service: [] as number[], node: [] as number[] };
  for (let run = 0; run <= runs; run++) {
    const node = await timed(async () => void (await once(spawn(process.execPath, ['-e', '0']), 'exit')));
    let serving: Serving | undefined;
    const service = await timed(async () => {
      serving = await serve(folder, ['--memory']);
      const answer = await request(`${serving.url}/profile`);
      await answer.body.dump();
      if (answer.statusCode !== 401) throw new Error(`the first response has status ${answer.statusCode}`);
    });
    await serving?.stop();
    if (run === 0) continue;
    seconds.service.push(service);
    seconds.node.push(node);
  }
  return { service: middle(seconds.service), node: middle(seconds.node) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** The service's peak resident memory in MB, when idle and after it has received documents of these sizes. */
export interface Peaks {
  readonly format: Format;
  readonly idle: number;
  readonly ten: number;
  readonly hundred: number;
}

/** Starts a new process for each format, and uploads 10 MB to it three times, then 100 MB once. */
export async function measureMemory(folder: string): Promise<Peaks[]> {
  const peaks: Peaks[] = [];
  for (const format of formats) {
    const serving = await serve(folder, ['--data', folder, '--upload-limit', '200000000']);
    try {
      const idle = await peakOf(serving.pid);
      const instance = await instanceOf(serving, format);
      for (let i = 0; i < 3; i++) await put(instance, documentOf(format, 10_000_000));
      const ten = await peakOf(serving.pid);
      await put(instance, documentOf(format, 100_000_000));
      peaks.push({ format, idle, ten, hundred: await peakOf(serving.pid) });
    } finally {
      await serving.stop();
    }
  }
  return peaks;
}

async function peakOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

const admin = { 'kf-api-key': keyOf('small', 'admin') };

async function instanceOf({ url }: Serving, format: Format): Promise<string> {
  const body = JSON.stringify({ name: format, format });
  const made = await request(`${url}/datasources`, { method: 'POST', headers: admin, body });
  const { meta } = (await made.body.json()) as { meta: { instance_location: string } };
  return url + meta.instance_location;
}

async function put(instance: string, document: Buffer): Promise<void> {
  const answer = await request(`${instance}/data`, { method: 'PUT', headers: admin, body: document });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(text);
  const shown = await request(instance, { headers: admin });
  const { data } = (await shown.body.json()) as { data: { data_size: number } };
  if (data.data_size !== document.length) throw new Error(`${data.data_size} of ${document.length} bytes stored`);
}
