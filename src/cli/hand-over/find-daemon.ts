import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { PrivateFolder } from './private-folder.ts';
import { type FileIdentity, socketName } from './protocol.ts';
import { stateFolderIn } from './state-folder-in.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The daemon that may run a config's jobs. Close this object when the conversation is over. */
export interface FoundDaemon {
  /** The path of its socket. */
  readonly socket: string;
  readonly config: FileIdentity & { readonly name: string };
  readonly close: () => void;
}

/** Finds the socket in the state folder of a config. Returns the reason if the socket can't be used. */
export function findDaemon(name: string, env: Environment): FoundDaemon | string {
  if (isJournal(env)) return "the systemd journal reads this process's output";
  const config = readConfig(name);
  if (config === undefined) return `${name} cannot be read`;
  const state = stateFolderIn(config.text, name, env);
  if (state === undefined) return 'the path of the state folder in the config is not a simple value';
  const folder = PrivateFolder.open(state);
  if (folder === undefined) return `${state} is not a folder, or other users can change it`;
  if (folder.hasPrivateSocket(socketName)) {
    const { identity } = config;
    return { socket: folder.pathOf(socketName), config: { ...identity, name }, close: () => folder.close() };
  }
  folder.close();
  return 'no daemon is running';
}

function readConfig(name: string): { readonly text: string; readonly identity: FileIdentity } | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(name, 'r');
    return { text: readFileSync(descriptor, 'utf8'), identity: identityOf(descriptor) };
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function identityOf(descriptor: number): FileIdentity {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  return { dev: String(dev), ino: String(ino) };
}

/**
 * Whether the output goes to the systemd journal. Journal lines need a priority, which only the caller's own process
 * can write.
 */
function isJournal({ JOURNAL_STREAM: stream }: Environment): boolean {
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(2);
  return stream === `${dev}:${ino}`;
}
