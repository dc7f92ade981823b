import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An authority and a server certificate signed by it, as PEM text. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Makes an authority of its own and a certificate for the names given (`IP:127.0.0.1`, `DNS:db.test`), valid for a day. */
export async function makeCertificates(names: readonly string[]): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-certificates-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  try {
    await openssl(
      'req',
      '-x509',
      ...key,
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
      '-days',
      '1',
      '-subj',
      '/CN=test authority',
    );
    await openssl('req', ...key, '-keyout', at('key.pem'), '-out', at('request'), '-subj', '/CN=test server');
    await writeFile(at('extensions'), `subjectAltName=${names.join(',')}\n`);
    const signing = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('extensions')];
    await openssl('x509', '-req', '-in', at('request'), '-out', at('cert.pem'), '-days', '1', ...signing);
    const [ca, cert, secret] = await Promise.all(
      ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readFile(at(name), 'utf8')),
    );
    return { ca: ca!, cert: cert!, key: secret! };
  } finally {
    await rm(folder, { recursive: true });
  }
}
