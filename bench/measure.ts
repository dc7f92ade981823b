import { spawn } from 'node:child_process';

/**
 * The cost of one command: its time in seconds, and its peak memory in MB (the largest resident set of any of its
 * processes).
 */
export interface Cost {
  readonly wall: number;
  readonly cpu: number;
  readonly peakMb: number;
  /** Last line of standard output. */
  readonly said: string;
}

/** Runs a shell command under GNU time. If the command fails, throws an error with the command's stderr. */
export async function measure(command: string, env: NodeJS.ProcessEnv = {}): Promise<Cost> {
  const started = process.hrtime.bigint();
  const child = spawn('/usr/bin/time', ['-f', '@@ %U %S %M', 'bash', '-c', `set -o pipefail; ${command}`], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const wall = Number(process.hrtime.bigint() - started) / 1e9;
  const figures = /@@ ([\d.]+) ([\d.]+) (\d+)/.exec(err);
  if (code !== 0 || figures === null) throw new Error(`exit ${code}: ${command}\n${err}\n${out}`);
  const [, user, system, kilobytes] = figures;
  return {
    wall,
    cpu: Number(user) + Number(system),
    peakMb: Number(kilobytes) / 1024,
    said: out.trim().split('\n').at(-1) ?? '',
  };
}

/** The median run by wall time. */
export function median<C extends Cost>(costs: readonly C[]): C {
  const ordered = [...costs].sort((a, b) => a.wall - b.wall);
  return ordered[Math.floor(ordered.length / 2)]!;
}
