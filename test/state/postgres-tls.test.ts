import { afterEach, beforeAll, expect, it } from 'vitest';
import type { StateDatabase } from '../../src/state/engine/state-database.ts';
import { type Certificates, makeCertificates } from '../servers/certificates.ts';
import { describeWithServer } from '../servers/describe.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

afterEach(cleanUp);

let certificates: Certificates;
const settings = async () => {
  certificates = await makeCertificates(['IP:127.0.0.1']);
  const { cert, key } = certificates;
  return { tls: { cert, key } };
};

describeWithServer({ servers: 'PostgreSQL', settings }, 'a state on a PostgreSQL server with TLS', (server) => {
  let database: Omit<StateDatabase, 'tls'>;
  beforeAll(() => {
    const { port, user, password, database: name } = server();
    database = { host: '127.0.0.1', port, user, password, database: name, schema: 'encrypted' };
  });
  const open = (changes: Partial<StateDatabase>) =>
    newStore({ folder: newFolder(), database: { ...database, ...changes } });

  it('is opened if a trusted authority has issued the certificate for the address', async () => {
    const store = await open({ tls: { verifyIdentity: true, ca: certificates.ca } });
    await store.settings.set('a', '1');
    expect(await store.settings.find('a')).toBe('1');
  });

  it.each<[string, () => Partial<StateDatabase>]>([
    ['is for another host name', () => ({ host: 'localhost', tls: { verifyIdentity: true, ca: certificates.ca } })],
    ['is from an unknown authority', () => ({ tls: { verifyIdentity: true } })],
    ['is from an unknown authority, although it may be for any host name', () => ({ tls: { verifyIdentity: false } })],
  ])("isn't opened if the certificate %s", async (_, changes) => {
    await expect(open(changes())).rejects.toMatchObject({ code: 'STATE_REFUSED', family: 'config' });
  });

  it('is opened with a certificate for another host name if only the authority is verified', async () => {
    const store = await open({ host: 'localhost', tls: { verifyIdentity: false, ca: certificates.ca } });
    expect(await store.settings.find('b')).toBeUndefined();
  });
});
