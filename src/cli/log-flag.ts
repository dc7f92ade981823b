import { Option } from 'commander';
import type { Level } from '../lib/log.ts';

/** Most verbose first. */
export const levels: readonly Level[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** `--log <level>`, the same for every command that logs; rejects any other level. */
export function logFlag(where: string, preset: Level): Option {
  return new Option('--log <level>', `log lines on ${where}`).choices(levels).default(preset);
}
