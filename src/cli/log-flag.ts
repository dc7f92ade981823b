import { Option } from 'commander';
import type { Level } from '../lib/log.ts';

/** From much to nothing. */
export const levels: readonly Level[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** `--log <level>`, the same for every command that logs; any other word is refused. */
export function logFlag(where: string, preset: Level): Option {
  return new Option('--log <level>', `log lines on ${where}`).choices(levels).default(preset);
}
