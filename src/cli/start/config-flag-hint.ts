import { rewriteAdvice } from '../../lib/advice.ts';
import { commandLine } from '../../lib/command-line.ts';
import { configArguments } from '../config-file.ts';

/** Commands that don't have a `--config` flag or use this flag for something else. */
const without: ReadonlySet<string> = new Set(['completion', 'demo', 'init', 'serve']);
const parts: Readonly<Record<string, readonly string[]>> = {
  alerts: ['list', 'test'],
  config: ['show', 'diff'],
  connectors: ['list', 'describe'],
  dead: ['list', 'show', 'send'],
  logins: ['revoke'],
  quarantine: ['list', 'show', 'approve', 'discard'],
  sources: ['list', 'resume'],
  state: ['show', 'clear', 'set'],
};
const partsWithout: ReadonlySet<string> = new Set(['connectors scaffold', 'connectors test']);

/**
 * Adds this command's `--config` flag to all commands that the output suggests, so that users can paste them: `sluice
 * sync orders` becomes `sluice sync --config FILE orders`. Does nothing for the default config.
 */
export function addConfigFlag(file: unknown, commands: ReadonlySet<string>): void {
  known = commands;
  const flag = typeof file === 'string' ? configArguments(file) : '';
  if (flag === '') return;
  rewriteAdvice((text, encode) => insertFlag(text, { flag: encode(flag), commands }));
}

/** The commands of this program. */
let known: ReadonlySet<string> = new Set();

/** Writes output for a caller that has another `--config` flag than this process, or none. */
export function withConfigFlag<T>(file: string | undefined, write: () => T): T {
  const flag = file === undefined ? '' : ` ${commandLine('--config', file)}`;
  const own = rewriteAdvice((text, encode) =>
    flag === '' ? text : insertFlag(text, { flag: encode(flag), commands: known }),
  );
  try {
    return write();
  } finally {
    rewriteAdvice(own);
  }
}

function insertFlag(text: string, { flag, commands }: { flag: string; commands: ReadonlySet<string> }): string {
  // In JSON, a line break is written as two characters.
  return text.replace(
    /(?<=^|[\s"'`(]|\\n)sluice ([a-z]+)(?: ([a-z]+))?/gm,
    (all: string, command: string, next: string | undefined, at: number) => {
      if (text.startsWith(' --config', at + all.length) || !commands.has(command)) return all;
      if (without.has(command) || partsWithout.has(`${command} ${next}`)) return all;
      const head = `sluice ${command}`;
      if (next === undefined) return head + flag;
      return parts[command]?.includes(next) === true ? `${head} ${next}${flag}` : `${head}${flag} ${next}`;
    },
  );
}
