import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { killSelf } from '../../lib/kill-self.ts';
import { createPrivateFile } from '../../lib/private-file.ts';
import type { BlockedRecord } from '../../state/runs/blocked-runs.ts';
import type { Reading, WatchOrder } from './loop-watch.ts';

/**
 * How long the main thread may take to show where it is: first it lists its scripts, a thousand and more, which takes 0.1 s,
 * and seconds on a busy machine.
 */
const stackPatienceMs = 10_000;
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

/** Writes down what is known, and ends the process. */
async function end(): Promise<void> {
  const record: BlockedRecord = { seconds: limitMs / 1000, runs: reading, stack: await mainThreadStack() };
  // The record decides what runs next time; without it the process is ended all the same.
  attempt(() => writeRecord(record));
  await writeLog(record).catch(() => undefined);
  killSelf();
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
  const file = createPrivateFile(unfinished);
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
  writeSync(2, `The event loop was blocked for ${seconds} s (${sources}), so the process exits.\n`);
}

/**
 * Where the main thread is, innermost first, as the debugger sees it: nothing else sees a thread that is busy. Empty where it
 * is outside of JavaScript, in a query of SQLite, say.
 */
async function mainThreadStack(): Promise<string[]> {
  const session = new Session();
  const scripts = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
  const paused = new Promise<readonly Debugger.CallFrame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames));
  });
  attempt(() => {
    session.connectToMainThread();
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
  const frames = await Promise.race([paused, wait(stackPatienceMs, [])]);
  return frames.slice(0, maxFrames).map(({ functionName, location: { scriptId, lineNumber } }) => {
    return `${functionName || '(anonymous)'} (${scripts.get(scriptId) ?? ''}:${lineNumber + 1})`;
  });
}
