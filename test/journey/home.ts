import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import type { OutboxRow, RunRow, WatermarkRow } from '../../src/state/tables.ts';
import { type Ended, makeFolder, type Running, type Scope, type Start, start } from './process.ts';
import type { SyncHere } from './sync-here.ts';

/** A user's folder: sources, one config, one state. */
export interface Home {
  readonly folder: string;
  /** Writes (or replaces) a file and returns its path. */
  write(name: string, text: string): Promise<string>;
  /** Writes the config and returns its path. */
  config(config: object): Promise<string>;
  /** Starts `sluice <args>`; its environment tells it where the config is. */
  start(args: readonly string[], how?: Start): Running;
  /** Like `start`, and waits for the end. */
  sluice(args: readonly string[], how?: Start): Promise<Ended>;
  /** Runs `sluice sync --json`, and returns what it printed. */
  sync(how?: Start & { readonly args?: readonly string[] }): Promise<Ended & { readonly jobs: readonly JobResult[] }>;
  /** Like `sync`, in the process of the test: for tests that aren't about the process or its output. */
  syncHere(how?: SyncHere): ReturnType<Home['sync']>;
  /** What the store contains. */
  state(): State;
  /** Everything below the state's payloads/, files and folders, as relative paths. */
  payloads(): readonly string[];
  /** Makes the state's files look an hour old. */
  age(): void;
}

/** One job as `sync --json` reports it. */
export interface JobResult {
  readonly job: string;
  readonly state: string;
  readonly rows: number;
  readonly bytes: number;
  readonly requests: number;
  readonly until?: string;
  readonly problem?: {
    readonly code: string;
    readonly message: string;
    readonly where: Record<string, unknown>;
    readonly seen?: string;
    readonly allowed?: string;
    readonly next?: string;
  };
}

export interface State {
  readonly runs: readonly RunRow[];
  readonly outbox: readonly OutboxRow[];
  /** Each job's checkpoint. */
  readonly watermarks: readonly WatermarkRow[];
  readonly leases: readonly { readonly name: string }[];
  readonly quota: readonly { readonly day: string; readonly used: number; readonly spent_until: number | null }[];
}

export async function makeHome(scope: Scope): Promise<Home> {
  const folder = await makeFolder(scope);
  const file = join(folder, 'sluice.yaml');
  const home: Home = {
    folder,
    write: async (name, text) => {
      const path = join(folder, name);
      await writeFile(path, text);
      return path;
    },
    config: (config) => writeConfig(folder, config),
    start: (args, { env = {}, ...how } = {}) => start(args, { scope, env: { SLUICE_CONFIG: file, ...env }, ...how }),
    sluice: (args, how) => home.start(args, how).ended,
    sync: async ({ args = [], ...how } = {}) => {
      const ended = await home.sluice(['sync', ...args, '--json'], how);
      return { ...ended, jobs: jobsIn(ended) };
    },
    syncHere: async (how = {}) => {
      const { syncHere } = await import('./sync-here.ts');
      const ended = await syncHere(file, how);
      return { ...ended, jobs: jobsIn(ended) };
    },
    state: () => readState(join(folder, 'state')),
    payloads: () => below(join(folder, 'state', 'payloads')),
    age: () => age(join(folder, 'state', 'payloads')),
  };
  return home;
}

/**
 * Writes the config as JSON, which is valid YAML. Paths in it are relative to its folder. By default, failed runs
 * aren't retried, because most tests check how the first attempt ends. The default comes last, so that no line of the
 * config moves.
 */
export async function writeConfig(folder: string, config: object): Promise<string> {
  const file = join(folder, 'sluice.yaml');
  const whole = { version: 1, state: './state', ...config, ...('retry' in config ? {} : { retry: 'off' }) };
  await writeFile(file, JSON.stringify(whole, undefined, 2));
  return file;
}

/** A process that was killed, or that rejected its config, has printed no results. */
function jobsIn({ stdout, stderr, signal, code }: Ended): readonly JobResult[] {
  if (stdout.trim() !== '') return (JSON.parse(stdout) as { jobs: JobResult[] }).jobs;
  if (signal === null && code !== 2) throw new Error(`sync ended with ${code} and without results: ${stderr}`);
  return [];
}

function readState(folder: string): State {
  const db = new SqliteDatabase(join(folder, 'sluice.db'));
  const all = <T>(table: string): T[] => db.prepare(`select * from ${table}`).all() as T[];
  try {
    return {
      runs: all<RunRow>('runs'),
      outbox: all<OutboxRow>('outbox').map((row) => ({ ...row, path: join(folder, row.path) })),
      watermarks: all<WatermarkRow>('watermarks'),
      leases: all('leases'),
      quota: all('quota'),
    };
  } finally {
    db.close();
  }
}

function below(folder: string): string[] {
  return existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]).sort() : [];
}

function age(folder: string): void {
  const hourAgo = Date.now() / 1000 - 3600;
  for (const name of below(folder)) utimesSync(join(folder, name), hourAgo, hourAgo);
}
