import { Option } from 'commander';
import type { Level } from '../lib/log.ts';

/** Log levels, from the most to the least verbose. */
export const levels: readonly Level[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** The `--log <level>` flag, the same for every command that logs. Rejects unknown levels. */
export function logFlag(where: string, preset: Level): Option {
  return new Option('--log <level>', `log lines on ${where}`).choices(levels).default(preset);
}
