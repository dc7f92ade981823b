/**
 * How `sluice sync` and the daemon talk: JSON, one message per line. The client sends a request, and the daemon accepts
 * or declines it. Until the client has answered with `go`, nothing has begun, so it may run the jobs itself. After
 * `go`, it may do so only if the daemon says that it declines.
 */

/** Increase this if older clients or daemons can't understand a change. */
export const protocolVersion = 1;

/** Identifies the installed package: the same in all of its files, wherever the code was bundled. */
export const codeLocation = import.meta.url;

/** The daemon's socket in the state folder. */
export const socketName = 'daemon.sock';

/** The default of `sync --wait`. */
export const defaultWaitSeconds = 300;

/** The daemon sends something at least this often while jobs run. */
export const keepAliveMs = 5_000;

/** What the output of a run must know about the caller's terminal. */
export interface TerminalFacts {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly hasColors: boolean;
}

/** A file, whatever its path is called. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** What a client asks for. It contains no variables of its environment. */
export interface SyncRequest {
  readonly version: number;
  /** The client's {@link codeLocation}. */
  readonly code: string;
  /** Options of Node itself, which may load other code first. */
  readonly node: readonly string[];
  /** The config as the caller named it, and the file that this is. */
  readonly config: FileIdentity & { readonly name: string };
  /** The value of `--config`, if suggested commands need it. */
  readonly flag?: string;
  readonly jobs: readonly string[];
  readonly json: boolean;
  readonly waitSeconds: number;
  readonly stdout: TerminalFacts;
  readonly stderr: TerminalFacts;
}

/** What a client sends after its request. */
export type ClientMessage =
  | { readonly go: true }
  /** The signal that the client received: the runs end as those of a process that received it. */
  | { readonly stop: 'SIGINT' | 'SIGTERM' }
  /** The size of its terminal has changed. */
  | { readonly resized: { readonly columns: number; readonly rows: number } };

/** What a daemon sends. */
export interface DaemonMessage {
  /** Why it doesn't run the jobs. */
  readonly declined?: string;
  /** It would run them; the client compares these facts with its own. */
  readonly accepted?: DaemonFacts;
  /** Runs have begun, or are about to. */
  readonly started?: true;
  readonly stdout?: string;
  readonly stderr?: string;
  /** The exit code, at the end. */
  readonly code?: number;
}

/** What must be the same in both processes, or a run of the client would be a different one. */
export interface DaemonFacts {
  readonly pid: number;
  /** The namespaces of processes, files and network. */
  readonly namespaces: readonly string[];
  /** The environment variables that the config uses. */
  readonly variables: readonly string[];
}

/**
 * Name of the property of `globalThis` that has the reason why the jobs weren't handed over. The client is a file of its
 * own, which shares no modules with the rest.
 */
const reasonName = Symbol.for('sluice.sync.local');

/** Keeps the reason for the log. */
export function keepReason(reason: string): void {
  Reflect.set(globalThis, reasonName, reason);
}

/** Why this process runs the jobs; undefined if it didn't ask. */
export function reasonToStay(): string | undefined {
  return Reflect.get(globalThis, reasonName) as string | undefined;
}
