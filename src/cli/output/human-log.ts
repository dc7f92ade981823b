import { inspect } from 'node:util';
import { type Level, type Log, openLog } from '../../lib/log.ts';
import { redact } from '../../lib/redact.ts';
import { levels } from '../log-flag.ts';
import { bytesText, countText, durationText, instantText } from './format.ts';
import { type Canvas, paint, type Tone } from './paint.ts';
import { printable } from './table.ts';

/** The stream that log lines are written to: a terminal or something else. */
export interface LogScreen extends Canvas {
  write(text: string): unknown;
}

/** Writes plain text if the stream is a terminal; otherwise, JSON lines. */
export function openLogOn(stream: LogScreen & { readonly fd: number }, level: Level): Log {
  return stream.isTTY === true ? humanLog(stream, level) : openLog({ level, descriptor: stream.fd });
}

/** Writes human-readable log lines: time, level, message, fields. `now` returns epoch milliseconds. */
export function humanLog(screen: LogScreen, level: Level, now: () => number = Date.now): Log {
  return logWith({}, (at, message, facts) => {
    if (levels.indexOf(at) < levels.indexOf(level)) return;
    const time = paint(instantText(now()).slice('2026-11-21 '.length), 'quiet', screen);
    const word = paint(at.padEnd(5), tones[at], screen);
    screen.write(`${redact(`${time} ${word} ${message.padEnd(18)} ${factsText(facts)}`.trimEnd())}\n`);
  });
}

const tones: Partial<Record<Level, Tone>> = { error: 'bad', warn: 'waiting', debug: 'quiet' };

type Write = (level: Exclude<Level, 'silent'>, message: string, facts: object) => void;

function logWith(known: object, write: Write): Log {
  const at =
    (level: Exclude<Level, 'silent'>) =>
    (message: string, facts: object = {}): void =>
      write(level, message, { ...known, ...facts });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (facts) => logWith({ ...known, ...facts }, write),
  };
}

/** Formats fields as `name=value` pairs on one line. Multi-line values follow on their own lines. */
function factsText(facts: object): string {
  const entries = Object.entries(facts).filter(([, value]) => value !== undefined);
  const isLong = ([, value]: [string, unknown]): boolean => typeof value === 'string' && value.includes('\n');
  const short = entries.filter((entry) => !isLong(entry)).map(([name, value]) => `${name}=${factText(name, value)}`);
  const long = entries.filter(isLong).flatMap(([, value]) => String(value).split('\n'));
  return [short.join(' '), ...long.map((line) => `    ${printable(line)}`)].join('\n').trim();
}

function factText(name: string, value: unknown): string {
  if (typeof value === 'number') return numberText(name, value);
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? printable(value) : JSON.stringify(value);
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 3 });
}

/** Formats instants, durations and sizes. Recognizes them by their field names. */
function numberText(name: string, value: number): string {
  if (name === 'at' || name === 'until') return instantText(value).replace(' ', 'T');
  if (name === 'milliseconds') return durationText(value).replaceAll(' ', '');
  if (name === 'bytes') return bytesText(value).replace(' ', '');
  return name === 'rows' ? countText(value) : String(value);
}
