import { writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { type Debugger, Session } from 'node:inspector';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { killSelf } from '../../lib/kill-self.ts';
import { createPrivateHandle } from '../../lib/private-file.ts';
import { type BlockedRecord, blockedWords } from '../../state/runs/blocked-runs.ts';
import type { Reading, WatchOrder } from './loop-watch.ts';
import { MainThread } from './main-thread.ts';

/**
 * Maximum time for getting the main thread's stack. The debugger first lists about a thousand scripts. This takes 0.1
 * s, or several seconds on a busy machine.
 */
const stackPatienceMs = 10_000;
const maxFrames = 10;
/** Maximum time for writing the record. */
const recordPatienceMs = 10_000;

const { beats, diskSteps, limitMs, ticks, folder, log: descriptor } = workerData as WatchOrder;
const tickMs = limitMs / ticks;
const count = new Int32Array(beats);
const steps = new Int32Array(diskSteps);
const path = join(folder, `${Date.now()}-${process.pid}.json`);
let reading: Reading = [];
let last = -1;
/** Time without a tick, except for the time in which the main thread waited for a CPU. */
let silentMs = 0;
/** How much of that time the main thread was waiting for the disk. */
let diskMs = 0;

const mainThread = new MainThread();

parentPort!.on('message', (runs: Reading) => {
  reading = runs;
});
const timer = setInterval(() => {
  const beat = Atomics.load(count, 0);
  const isSilent = beat === last;
  const activeMs = mainThread.activeMs(tickMs);
  silentMs = isSilent ? silentMs + activeMs : 0;
  if (!isSilent) diskMs = 0;
  else if (Atomics.load(steps, 0) > 0) diskMs += activeMs;
  last = beat;
  if (silentMs < limitMs) return;
  clearInterval(timer);
  void end();
}, tickMs);

/** Records what is known, and kills the process. */
async function end(): Promise<void> {
  const by = diskMs * 2 > silentMs ? 'disk' : 'source';
  const seconds = limitMs / 1000;
  const record: BlockedRecord = { by, seconds, runs: reading, stack: by === 'disk' ? [] : await mainThreadStack() };
  // Writes to the log first, because logging doesn't need the disk.
  await writeLog(record).catch(() => undefined);
  // The record determines what runs after the restart, but the process is killed even if the record can't be written.
  await Promise.race([writeRecord(record).catch(() => undefined), wait(recordPatienceMs)]);
  killSelf();
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // The watchdog can't try anything else.
  }
}

/** Writes durably: the record survives the end of the process and a power loss. */
async function writeRecord(record: BlockedRecord): Promise<void> {
  const unfinished = `${path}.part`;
  const file = await createPrivateHandle(unfinished);
  try {
    await file.writeFile(JSON.stringify(record));
    await file.sync();
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  const list = await open(folder, 'r');
  await list.sync().finally(() => list.close());
}

/** Loads the logger only when it's needed, because a watchdog that finds nothing shouldn't use resources. */
async function writeLog({ by, seconds, runs, stack }: BlockedRecord): Promise<void> {
  if (descriptor !== undefined) {
    const { openLog } = await import('../../lib/log.ts');
    const log = openLog({ level: 'error', descriptor });
    const { code } = blockedWords({ by, seconds, stack });
    log.error('process.blocked', { code, by, seconds, runs, stack });
    return;
  }
  if (by === 'disk') {
    writeSync(2, `${blockedWords({ by, seconds, stack }).message}.\n`);
    return;
  }
  const sources =
    runs.map(({ job, source }) => `job ${job}, source ${source}`).join('; ') || 'no source was being read';
  writeSync(2, `The event loop was blocked for ${seconds} s (${sources}), so the process exits.\n`);
}

/**
 * Returns the main thread's stack, innermost frame first. The stack comes from the debugger, because nothing else can
 * inspect a busy thread. Empty if the thread is outside JavaScript, for example in an SQLite query.
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
