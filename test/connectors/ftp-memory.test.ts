import { execFile } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import type { FileServer } from '../servers/file-server.ts';
import { ownFolder, putFile } from './ftp-harness.ts';
import { certificates, keyLogin, type Login, tlsLogin } from './ftp-logins.ts';

const run = promisify(execFile);
const child = join(import.meta.dirname, 'ftp-memory-child.ts');
const tls = async () => ({ tls: await certificates() });

async function putRows(server: FileServer, rows: number): Promise<string> {
  const name = `${rows}.csv`;
  const path = await putFile(server, name, 'id,name,amount,note\n');
  for (let from = 0; from < rows; from += 50_000) {
    const lines = Array.from(
      { length: 50_000 },
      (_, i) => `${from + i},name ${from + i},${i}.50,"a note, with ""quotes"""\n`,
    );
    await appendFile(path, lines.join(''));
  }
  return name;
}

/** One for each protocol: what is kept of a file doesn't depend on the server's program. */
const servers: readonly { server: 'ProFTPD' | 'sshd'; login: Login; settings?: typeof tls }[] = [
  { server: 'ProFTPD', login: tlsLogin('ftps'), settings: tls },
  { server: 'sshd', login: keyLogin },
];

for (const { login, ...suite } of servers) {
  describeWithFileServer(suite, `a read from ${suite.server}`, (server) => {
    const folder = ownFolder();

    it('needs no more memory for a larger file: three million rows fit a small heap', async () => {
      const source = JSON.stringify(await login(server(), folder()));
      const peakOf = async (rows: number) => {
        const query = JSON.stringify({
          path: await putRows(server(), rows),
          types: { id: 'integer', amount: 'decimal' },
        });
        const { stdout } = await run(process.execPath, ['--max-old-space-size=96', child, source, query, folder()]);
        return JSON.parse(stdout) as { rows: number; peak: number };
      };
      // Both runs are long, because a short run ends before the garbage collector lets the heap reach its usual size.
      // If anything were kept for each chunk of a file, it would be noticeable: the longer run's file is 100 MB larger.
      const few = await peakOf(1_000_000);
      const many = await peakOf(3_000_000);
      expect([few.rows, many.rows]).toEqual([1_000_000, 3_000_000]);
      expect(many.peak).toBeLessThan(230);
      expect(many.peak).toBeLessThan(1.4 * few.peak);
    });
  });
}
