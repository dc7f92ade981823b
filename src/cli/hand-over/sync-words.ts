import { defaultConfigIn } from '../../config/default-paths.ts';
import { defaultWaitSeconds } from './protocol.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A parsed `sluice sync` command line whose runs can be handed over to a daemon. */
export interface SyncWords {
  /** The config path exactly as the caller wrote it. */
  readonly config: string;
  /** The value of `--config`, if it isn't the default. */
  readonly flag?: string;
  readonly jobs: readonly string[];
  readonly json: boolean;
  readonly waitSeconds: number;
  /** The reason why this process must run the jobs itself even if a daemon is available. */
  readonly stays?: string;
}

/**
 * Parses the arguments after `sluice sync`, or returns the reason why the runs must stay in this process. Runs are
 * handed over only if this function understands every argument. The command itself reports invalid arguments.
 */
export function readWords(words: readonly string[], env: Environment): SyncWords | string {
  const known = defaultConfigIn(env);
  const jobs: string[] = [];
  let [config, json, waitSeconds] = [known, false, defaultWaitSeconds];
  let stays: string | undefined;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [name, value] = split(word, rest);
    if (name === '--json' && value === undefined) json = true;
    else if (name === '--config' && value) config = value;
    else if (name === '--wait' && /^\d{1,9}$/.test(value ?? '')) waitSeconds = Number(value);
    else if (name === '--log' && value) stays = "--log writes this process's log";
    else if (/^[^-]/.test(name) && value === undefined) jobs.push(name);
    else return `the daemon does not accept ${name}`;
  }
  return { config, ...(config === known ? {} : { flag: config }), jobs, json, waitSeconds, ...(stays && { stays }) };
}

/** Splits `--name=value`. For `--name value`, takes the value from the next argument. */
function split(word: string, rest: string[]): [name: string, value?: string | undefined] {
  if (word === '-c') return ['--config', rest.shift()];
  if (['--config', '--wait', '--log'].includes(word)) return [word, rest.shift()];
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
