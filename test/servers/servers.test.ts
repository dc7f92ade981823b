import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { describeWithServer } from './describe.ts';

const here = dirname(fileURLToPath(import.meta.url));

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket.destroy() !== undefined));
    socket.once('error', () => resolve(false));
  });
}

/** A process that starts a server, prints its address, and then waits forever. */
async function holder(module: string, start: string): Promise<{ child: ChildProcess; port: number; folder: string }> {
  const script = `import { ${start} } from ${JSON.stringify(join(here, module))};
    const server = await ${start}(); console.log(JSON.stringify(server)); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (data) => resolve(String(data))));
  return { child, ...(JSON.parse(line) as { port: number; folder: string }) };
}

for (const [kind, module, start] of [
  ['PostgreSQL', 'postgres.ts', 'startPostgres'],
  ['MariaDB', 'mariadb.ts', 'startMariadb'],
] as const) {
  describeWithServer({ servers: kind }, `a private ${kind}`, (server) => {
    it('listens only on the loopback interface', async () => {
      expect(server().host).toBe('127.0.0.1');
      expect(await accepts(server().port)).toBe(true);
    });

    it('stops with the process that started it, even if that process was killed', async () => {
      const { child, port, folder } = await holder(module, start);
      expect(await accepts(port)).toBe(true);
      child.kill('SIGKILL');
      while ((await accepts(port)) || existsSync(folder)) await wait(20);
      expect(await accepts(port)).toBe(false);
      expect(existsSync(folder)).toBe(false);
    });
  });
}
