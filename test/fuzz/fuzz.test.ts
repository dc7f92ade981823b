import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { protocols } from './protocols.ts';

/** `npm run test:fuzz` runs more. */
const dialogs = Number(process.env.SLUICE_FUZZ_DIALOGS ?? 150);
const seed = Number(process.env.SLUICE_FUZZ_SEED ?? 1);
/** A child that prints nothing for this long is in an endless loop. */
const silenceMs = 180_000;

it.concurrent.each(Object.keys(protocols))(
  "a mutated %s dialog never crashes or blocks the process, and never returns data that wasn't sent",
  async (name) => {
    const child = spawn(
      process.execPath,
      [new URL('./fuzz-child.ts', import.meta.url).pathname, name, String(dialogs), String(seed)],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const failures: string[] = [];
    let last = '';
    let timer: NodeJS.Timeout | undefined;
    const kill = () => {
      failures.push(`an endless loop near seed ${last}`);
      child.kill('SIGKILL');
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      clearTimeout(timer);
      timer = setTimeout(kill, silenceMs);
      for (const line of text.split('\n')) {
        if (line.startsWith('FAILED')) failures.push(line);
        if (line !== '') last = line;
      }
    });
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    expect(failures).toEqual([]);
    expect({ code, last }).toEqual({ code: 0, last: `played ${dialogs}` });
  },
  3_600_000,
);
