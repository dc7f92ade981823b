/**
 * The protocol between `sluice sync` and the daemon: JSON, one message per line. The client sends a request, and the
 * daemon accepts or declines it. The daemon doesn't start any run before the client sends `go`, so the client may run
 * the jobs itself until then. After `go`, the client may run the jobs only if the daemon declines.
 */

/** Increase this number if older clients or daemons can't understand a change to the protocol. */
export const protocolVersion = 1;

/** Identifies the installed package. The value must be the same in all of the package's bundles. */
export const codeLocation = import.meta.url;

/** Name of the daemon's socket in the state folder. */
export const socketName = 'daemon.sock';

/** The default of `sync --wait`. */
export const defaultWaitSeconds = 300;

/** Maximum time between two messages from the daemon while jobs are running. */
export const keepAliveMs = 5_000;

/** The properties of the caller's terminal that affect the output of a run. */
export interface TerminalFacts {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly hasColors: boolean;
}

/** Identifies a file independently of its path. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** A client's request. It contains none of the client's environment variables. */
export interface SyncRequest {
  readonly version: number;
  /** The value of {@link codeLocation} in the client. */
  readonly code: string;
  /** Options for Node itself, which may load additional code before the program. */
  readonly node: readonly string[];
  /** The config's path as the caller wrote it, and the identity of the file. */
  readonly config: FileIdentity & { readonly name: string };
  /** The value of `--config`, if the commands that are suggested to the user need it. */
  readonly flag?: string;
  readonly jobs: readonly string[];
  readonly json: boolean;
  readonly waitSeconds: number;
  readonly stdout: TerminalFacts;
  readonly stderr: TerminalFacts;
}

/** The messages that a client sends after its request. */
export type ClientMessage =
  | { readonly go: true }
  /** The signal that the client received. The daemon ends the runs as if it had received the signal itself. */
  | { readonly stop: 'SIGINT' | 'SIGTERM' }
  /** The client's terminal has been resized. */
  | { readonly resized: { readonly columns: number; readonly rows: number } };

/** What a daemon sends. */
export interface DaemonMessage {
  /** Why it doesn't run the jobs. */
  readonly declined?: string;
  /** Present if the daemon is ready to run the jobs. The client compares these facts with its own. */
  readonly accepted?: DaemonFacts;
  /** Present if the runs have started or are about to start. */
  readonly started?: true;
  readonly stdout?: string;
  readonly stderr?: string;
  /** The exit code, at the end. */
  readonly code?: number;
}

/** Facts that must be the same in both processes. If one of them differs, a run could have a different result. */
export interface DaemonFacts {
  readonly pid: number;
  /** The process, file system and network namespaces. */
  readonly namespaces: readonly string[];
  /** The names of the environment variables that the config uses. */
  readonly variables: readonly string[];
}

/**
 * The property of `globalThis` that stores why the jobs weren't handed over. A global is necessary, because the client
 * is in a bundle of its own and shares no modules with the other bundles.
 */
const reasonName = Symbol.for('sluice.sync.local');

/** Keeps the reason for the log. */
export function keepReason(reason: string): void {
  Reflect.set(globalThis, reasonName, reason);
}

/** Why this process runs the jobs itself; undefined if it didn't ask a daemon to run them. */
export function reasonToStay(): string | undefined {
  return Reflect.get(globalThis, reasonName) as string | undefined;
}
