import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate with its key, as PEM text. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority, a server certificate and a client certificate signed by it, as PEM text. */
export interface Certificates extends Certificate {
  readonly ca: string;
  readonly client: Certificate;
}

/**
 * Creates a separate authority and a certificate for the given names (`IP:127.0.0.1`, `DNS:db.test`), valid for a day.
 * Creating an RSA key takes a hundred times as long as one for an elliptic curve, but MySQL needs one.
 */
export async function makeCertificates(
  names: readonly string[],
  { type = 'ec' }: { readonly type?: 'ec' | 'rsa' } = {},
): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-certificates-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const kind = type === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] : ['rsa:2048'];
  const key = ['-newkey', ...kind, '-nodes'];
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
    const sign = async (name: string, extensions: string): Promise<Certificate> => {
      const [secret, request, cert] = ['key', 'request', 'cert'].map((kind) => at(`${name}.${kind}`)) as [
        string,
        string,
        string,
      ];
      await openssl('req', ...key, '-keyout', secret, '-out', request, '-subj', `/CN=test ${name}`);
      await writeFile(at('extensions'), `${extensions}\n`);
      const signing = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('extensions')];
      await openssl('x509', '-req', '-in', request, '-out', cert, '-days', '1', ...signing);
      return { cert: await readFile(cert, 'utf8'), key: await readFile(secret, 'utf8') };
    };
    const server = await sign('server', `subjectAltName=${names.join(',')}`);
    const client = await sign('client', 'extendedKeyUsage=clientAuth');
    return { ca: await readFile(at('ca.pem'), 'utf8'), ...server, client };
  } finally {
    await rm(folder, { recursive: true });
  }
}
