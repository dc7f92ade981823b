import { dataIn } from './new-data.ts';
import { postgresPrograms, servePostgres } from './postgres.ts';
import { ServerFolder, type ServerSettings, type TestServer } from './server.ts';

/** Starts a hot standby that streams from a private PostgreSQL. Settings are in the server's own syntax. */
export async function startStandby(
  { url }: TestServer,
  { settings = {} }: Pick<ServerSettings, 'settings'> = {},
): Promise<TestServer> {
  const { basebackup, postgres } = postgresPrograms();
  if (basebackup === undefined || postgres === undefined) {
    throw new Error('PostgreSQL (pg_basebackup, postgres) is not installed');
  }
  const folder = await ServerFolder.make('standby');
  // -R records the primary, with the password.
  const copy = ['-d', url, '-D', dataIn(folder), '-R', '-X', 'stream', '-c', 'fast', '--no-sync', '--no-manifest'];
  await folder.run(basebackup, copy);
  return servePostgres({ folder, postgres, settings });
}
