import { dirname } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { expect, it } from 'vitest';
import { check, type Options, problemOf, read } from '../connectors/db-reader.ts';
import { describeWithServer, reportMissing } from '../servers/describe.ts';
import { findProgram } from '../servers/server.ts';

const plugin = findProgram('auth_ed25519.so');

if (plugin === undefined) reportMissing("MariaDB's ed25519", ['auth_ed25519.so'], 'mariadb-server');
else {
  const settings = { 'plugin-dir': dirname(plugin), 'plugin-load-add': 'auth_ed25519' };
  describeWithServer({ servers: 'MariaDB', settings: { settings } }, "a login with MariaDB's ed25519", (server) => {
    const sourceOf = (user: string, password: string): Options => {
      const { host, port, database } = server();
      return { driver: 'mariadb', host, port, database, user, password };
    };

    it.each([
      ['short', 'a'],
      ['32 bytes', 'b'.repeat(32)],
      ['long', 'c1%'.repeat(60)],
      ['not ASCII', 'pässwörd 漢😀'],
      ['quotes', `'"\\\\`],
    ])('succeeds with a password that is %s, and only with that one', async (name, password) => {
      const user = name.replaceAll(' ', '_');
      const connection = await createConnection(server().url);
      await connection.query(`create user '${user}'@'127.0.0.1' identified via ed25519 using password(?)`, [password]);
      await connection.query(`grant select on *.* to '${user}'@'127.0.0.1'`);
      await connection.end();
      expect((await read(sourceOf(user, password), 'select current_user() as a')).rows).toEqual([
        [`${user}@127.0.0.1`],
      ]);
      expect(await problemOf(check(sourceOf(user, `${password}!`)))).toMatchObject({ code: 'DB_LOGIN_REFUSED' });
      expect(await problemOf(check(sourceOf(user, '')))).toMatchObject({ code: 'DB_LOGIN_REFUSED' });
    });
  });
}
