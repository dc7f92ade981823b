import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { BlockedRecord } from '../../state/blocked-runs.ts';
import type { Reading, WatchOrder } from './loop-watch.ts';

/** How long the main thread may take to show where it is. */
const stackPatienceMs = 1_000;
const maxFrames = 10;

const { beats, limitMs, ticks, folder, log: descriptor } = workerData as WatchOrder;
const count = new Int32Array(beats);
const path = join(folder, `${Date.now()}-${process.pid}.json`);
let reading: Reading = [];
let last = -1;
let silentTicks = 0;

parentPort!.on('message', (runs: Reading) => {
  reading = runs;
});
const timer = setInterval(() => {
  const beat = Atomics.load(count, 0);
  silentTicks = beat === last ? silentTicks + 1 : 0;
  last = beat;
  if (silentTicks < ticks) return;
  clearInterval(timer);
  void end();
}, limitMs / ticks);

/** Writes down what is known, and ends the process; unless the main thread came back meanwhile. */
async function end(): Promise<void> {
  const main = new MainThread();
  const record: BlockedRecord = { seconds: limitMs / 1000, runs: reading, stack: await main.stack() };
  // The record decides what runs next time; without it the process is ended all the same.
  attempt(() => writeRecord(record));
  await writeLog(record).catch(() => undefined);
  process.kill(process.pid, 'SIGKILL');
  // The first process of a container cannot kill itself; it can be made to abort.
  await wait(stackPatienceMs);
  main.abort();
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // There is nothing left to try.
  }
}

/** Survives the end of the process, and a power cut. */
function writeRecord(record: BlockedRecord): void {
  const unfinished = `${path}.part`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    writeFileSync(file, JSON.stringify(record));
    fsyncSync(file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const list = openSync(folder, 'r');
  fsyncSync(list);
  closeSync(list);
}

/** What logs is loaded now: a watch that sees nothing should cost nothing. */
async function writeLog({ seconds, runs, stack }: BlockedRecord): Promise<void> {
  if (descriptor !== undefined) {
    const { openLog } = await import('../../lib/log.ts');
    const log = openLog({ level: 'error', descriptor });
    log.error('process.blocked', { seconds, runs, stack });
    return;
  }
  const sources =
    runs.map(({ job, source }) => `job ${job}, source ${source}`).join('; ') || 'no source was being read';
  writeSync(2, `The event loop was blocked for ${seconds} s (${sources}), so the process is ended.\n`);
}

/** The debugger's view of a main thread that is busy: the one way to see where it is. */
class MainThread {
  readonly #session = new Session();
  readonly #scripts = new Map<string, string>();
  #frames: readonly Debugger.CallFrame[] = [];

  /** Stops the main thread and says where it was; empty where it is outside of JavaScript. */
  async stack(): Promise<string[]> {
    this.#session.on('Debugger.scriptParsed', ({ params }) => this.#scripts.set(params.scriptId, params.url));
    const paused = new Promise<void>((resolve) => {
      this.#session.once('Debugger.paused', ({ params }) => {
        this.#frames = params.callFrames;
        resolve();
      });
    });
    attempt(() => {
      this.#session.connectToMainThread();
      this.#session.post('Debugger.enable');
      this.#session.post('Debugger.pause');
    });
    await Promise.race([paused, wait(stackPatienceMs)]);
    return this.#frames.slice(0, maxFrames).map(({ functionName, location: { scriptId, lineNumber } }) => {
      const place = `${this.#scripts.get(scriptId) ?? ''}:${lineNumber + 1}`;
      return `${functionName || '(anonymous)'} (${place})`;
    });
  }

  abort(): void {
    const [frame] = this.#frames;
    const expression = 'process.abort()';
    if (frame !== undefined) {
      this.#session.post('Debugger.evaluateOnCallFrame', { callFrameId: frame.callFrameId, expression });
    }
  }
}
