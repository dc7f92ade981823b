import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, inject, onTestFinished } from 'vitest';

const folder = process.env.SLUICE_TEST_FOLDER;
/** The file of a module in preloads/, as compiled by ../run-folder.ts if that has run. */
const preloadFile = (name: string): string =>
  folder === undefined ? join(import.meta.dirname, `preloads/${name}.ts`) : join(folder, `preloads/${name}.mjs`);
/** All processes of the test suite share compiled code, also with the suite's next run. */
const cache = new URL('../../node_modules/.cache/', import.meta.url).pathname;

/** Maximum lifetime of a process that should end by itself. If it hangs, its test fails instead of the whole suite. */
const longestLifeMs = 200_000;

/**
 * Collects cleanup functions until they are due. Returns `undefined`, so that passing {@link forSuite} itself is a type
 * error.
 */
export type Scope = (undo: () => unknown) => undefined;

/** What is cleaned up at the end of the running test. */
export const forTest: Scope = (undo) => {
  onTestFinished(async () => {
    await undo();
  });
};

/** A scope that ends after the last test in the calling suite; cleanup functions run in reverse order. */
export function forSuite(): Scope {
  const undos: (() => unknown)[] = [];
  afterAll(async () => {
    for (const undo of undos.reverse()) await undo();
  });
  return (undo) => {
    undos.push(undo);
  };
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
  /** Flags for Node itself, such as a heap limit. */
  readonly node?: readonly string[];
  /** A program, with its flags, that starts the process in turn. */
  readonly under?: readonly string[];
  /** Modules of preloads/ to load first. */
  readonly preload?: readonly string[];
  readonly scope?: Scope;
  /** The process runs until it's asked to stop. */
  readonly serves?: boolean;
  /** If true, the process reads what the test writes to its standard input; by default, it has no standard input. */
  readonly input?: boolean;
  /** By default, the built package, which needs half as much CPU time to start as the sources do. */
  readonly program?: Program;
}

/** A Sluice that can be started: Node, and its `sluice.js`. */
export interface Program {
  readonly node: string;
  readonly door: string;
}

/** A running `sluice` process. `ended` resolves however the process ends; it's killed when its scope ends. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => string;
}

/** Starts the real command line in its own process. */
export function start(args: readonly string[], how: Start = {}): Running {
  const { env = {}, cwd, under = [], node = [], preload = [], scope = forTest, serves = false, input = false } = how;
  const { program: sluice = { node: process.execPath, door: inject('door') } } = how;
  const imports = preload.flatMap((name) => ['--import', pathToFileURL(preloadFile(name)).href]);
  const [program, ...flags] = [...under, sluice.node, ...node, ...imports, sluice.door, ...args];
  const child = spawn(program!, flags, {
    // Without the test run's cache, because Sluice caches compiled code itself.
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, NO_COLOR: '1', XDG_CACHE_HOME: cache, ...env },
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

/** A private folder that is deleted with its scope. */
export async function makeFolder(scope: Scope = forTest): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-journey-'));
  scope(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface UntilOptions {
  readonly withinMs?: number;
  /** Details for the error if the condition doesn't become true. */
  readonly seen?: () => string | Promise<string>;
}

/**
 * Waits until a condition is true; otherwise fails with its name. Most of the time, it waits instead of checking: a check
 * may start a process, whose CPU time what is waited for needs.
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { withinMs = 150_000, seen = () => '' }: UntilOptions = {},
): Promise<void> {
  const end = performance.now() + withinMs;
  for (;;) {
    const began = performance.now();
    if (await isSo()) return;
    const now = performance.now();
    if (now > end) throw new Error(`timed out after ${withinMs} ms waiting for ${what}\n${await seen()}`);
    await wait(Math.max(20, Math.min(now - began, 1000)));
  }
}
