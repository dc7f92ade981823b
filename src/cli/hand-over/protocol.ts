/**
 * The protocol between `sluice sync` and the daemon: JSON, one message per line. The client sends a request, and the
 * daemon accepts or declines it. No run begins before the client sends `go`, so until then, the client may run the jobs
 * itself. After `go`, the client may run them only if the daemon declines.
 */

/** Increase this if older clients or daemons can't understand a change to the protocol. */
export const protocolVersion = 1;

/** Identifies the installed package. It must have the same value in all of the package's bundles. */
export const codeLocation = import.meta.url;

/** Name of the daemon's socket in the state folder. */
export const socketName = 'daemon.sock';

/** The default of `sync --wait`. */
export const defaultWaitSeconds = 300;

/** The daemon sends something at least this often while jobs run. */
export const keepAliveMs = 5_000;

/** The properties of the caller's terminal that affect a run's output. */
export interface TerminalFacts {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly hasColors: boolean;
}

/** Identifies a file regardless of its path. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** A client's request. It doesn't contain any of the client's environment variables. */
export interface SyncRequest {
  readonly version: number;
  /** The client's {@link codeLocation}. */
  readonly code: string;
  /** Node's own options, which may load other code first. */
  readonly node: readonly string[];
  /** The config's path as the caller wrote it, and the file's identity. */
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
  /** The signal that the client received. The runs end as if the daemon itself had received it. */
  | { readonly stop: 'SIGINT' | 'SIGTERM' }
  /** The client's terminal has been resized. */
  | { readonly resized: { readonly columns: number; readonly rows: number } };

/** What a daemon sends. */
export interface DaemonMessage {
  /** Why it doesn't run the jobs. */
  readonly declined?: string;
  /** The daemon is ready to run the jobs. The client compares these facts with its own. */
  readonly accepted?: DaemonFacts;
  /** The runs have started, or are about to. */
  readonly started?: true;
  readonly stdout?: string;
  readonly stderr?: string;
  /** The exit code, at the end. */
  readonly code?: number;
}

/** Facts that must be the same in both processes. If one differs, a run could have a different result. */
export interface DaemonFacts {
  readonly pid: number;
  /** The namespaces for processes, files and network. */
  readonly namespaces: readonly string[];
  /** The environment variables that the config uses. */
  readonly variables: readonly string[];
}

/**
 * The property of `globalThis` that stores why the jobs weren't handed over. The client is in a separate bundle, which
 * doesn't share modules with the others.
 */
const reasonName = Symbol.for('sluice.sync.local');

/** Keeps the reason for the log. */
export function keepReason(reason: string): void {
  Reflect.set(globalThis, reasonName, reason);
}

/** Why this process runs the jobs itself; undefined if it didn't ask a daemon. */
export function reasonToStay(): string | undefined {
  return Reflect.get(globalThis, reasonName) as string | undefined;
}
