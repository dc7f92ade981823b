import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, inject, onTestFinished } from 'vitest';

const preloads = new URL('./preloads/', import.meta.url);
/** Compiled code is shared by all processes of the suite, and by the next run of it. */
const cache = new URL('../../node_modules/.cache/', import.meta.url).pathname;

/** Longest life of a process that should have ended by itself; one that hangs fails its test instead of the whole run. */
const longestLifeMs = 200_000;

/** Keeps what has to be undone until its time. */
export type Scope = (undo: () => unknown) => void;

/** What is undone at the end of the running test. */
export const forTest: Scope = (undo) => {
  onTestFinished(async () => {
    await undo();
  });
};

/** A scope that ends after the last test of the suite that calls this; the last thing made is undone first. */
export function forSuite(): Scope {
  const undos: (() => unknown)[] = [];
  afterAll(async () => {
    for (const undo of undos.reverse()) await undo();
  });
  return (undo) => undos.push(undo);
}

/** How a `sluice` process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Start {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Flags of Node itself: a heap limit. */
  readonly node?: readonly string[];
  /** A program, with its flags, that starts the process in its own place. */
  readonly under?: readonly string[];
  /** Modules of preloads/ that are loaded first. */
  readonly preload?: readonly string[];
  readonly scope?: Scope;
  /** It is meant to live until it is told to end. */
  readonly serves?: boolean;
  /** It reads what the test writes to its standard input; otherwise there is none. */
  readonly input?: boolean;
  /** By default the built package, which starts in half of the CPU time of the sources. */
  readonly program?: Program;
}

/** A Sluice that can be started: the Node that runs it, and its `sluice.js`. */
export interface Program {
  readonly node: string;
  readonly door: string;
}

/** A running `sluice` process. `ended` resolves however it ends; the end of its scope kills it. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => string;
}

/** Starts the real command line in a process of its own. */
export function start(args: readonly string[], how: Start = {}): Running {
  const { env = {}, cwd, under = [], node = [], preload = [], scope = forTest, serves = false, input = false } = how;
  const { program: sluice = { node: process.execPath, door: inject('door') } } = how;
  const imports = preload.flatMap((name) => ['--import', new URL(`${name}.ts`, preloads).href]);
  const [program, ...flags] = [...under, sluice.node, ...node, ...imports, sluice.door, ...args];
  const child = spawn(program!, flags, {
    env: { ...process.env, NO_COLOR: '1', XDG_CACHE_HOME: cache, ...env },
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const text = { stdout: '', stderr: '' };
  child.stdout!.setEncoding('utf8').on('data', (piece: string) => (text.stdout += piece));
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (text.stderr += piece));
  const tooLate = setTimeout(() => {
    text.stderr += `\n[killed by the test: still running after ${longestLifeMs} ms]`;
    child.kill('SIGKILL');
  }, longestLifeMs);
  if (serves) clearTimeout(tooLate);
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(tooLate);
      resolve({ code, signal, ...text });
    });
  });
  scope(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, output: () => text.stdout + text.stderr };
}

/** A private folder that goes with its scope. */
export async function makeFolder(scope: Scope = forTest): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-journey-'));
  scope(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface UntilOptions {
  readonly withinMs?: number;
  /** What explains that it did not become true, for the error. */
  readonly seen?: () => string | Promise<string>;
}

/** Waits until something is true; fails with what was waited for. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { withinMs = 150_000, seen = () => '' }: UntilOptions = {},
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for: ${what}\n${await seen()}`);
    await wait(20);
  }
}
