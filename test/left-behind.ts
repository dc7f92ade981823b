import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const mark = 'SLUICE_TEST_RUN';

/**
 * Fails the run if a process that a test started outlives it. Linux only, because it reads the environments of
 * processes.
 */
export default function mind(): () => Promise<void> {
  process.env[mark] ??= String(process.pid);
  const inherited = `${mark}=${process.env[mark]}`;
  return async () => {
    let left = await processesWith(inherited);
    // Those that are ending may take a moment.
    for (let look = 0; look < 50 && left.length > 0; look++) {
      await wait(200);
      left = await processesWith(inherited);
    }
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    if (left.length > 0) throw new Error(`Tests left processes behind:\n${left.map(({ what }) => what).join('\n')}`);
  };
}

/** Sluice processes with this variable in their environment. */
async function processesWith(variable: string): Promise<{ pid: number; what: string }[]> {
  const all = await readdir('/proc').catch(() => []);
  const found = [];
  for (const pid of all.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const [environment, command] = await Promise.all([textOf(pid, 'environ'), textOf(pid, 'cmdline')]);
    if (!environment.split('\0').includes(variable) || !command.includes('sluice.js')) continue;
    found.push({ pid: Number(pid), what: command.replaceAll('\0', ' ') });
  }
  return found;
}

const textOf = (pid: string, name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
