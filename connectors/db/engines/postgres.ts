import { sslModes } from '#sdk';
import type { DatabaseEngine } from '../database-engine.ts';
import { doubleQuoted } from '../dialect.ts';
import { targetSessions } from '../options.ts';
import { common, connectTimeout, file, ifAny, nothing, oneOf, rootCertificate, tlsMode } from '../parameter-readers.ts';
import { allowedInsteadOf } from '../startup-options.ts';

const reservedSettings =
  /^((default_)?transaction_\w+|datestyle|timezone|intervalstyle|bytea_output|extra_float_digits|client_encoding|xmloption|xmlbinary|lc_monetary|zero_damaged_pages|ignore_checksum_failure)$/i;

export const postgres: DatabaseEngine = {
  title: 'PostgreSQL',
  schemes: ['postgres', 'postgresql'],
  port: 5432,
  // https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
  parameters: {
    ...common,
    dbname: ifAny((database) => ({ database })),
    sslmode: oneOf(Object.fromEntries(Object.entries(sslModes).map(([name, mode]) => [name, tlsMode(mode)]))),
    ssl: oneOf({ true: tlsMode('require'), false: tlsMode('off') }),
    sslrootcert: rootCertificate,
    sslcert: file('cert_file'),
    sslkey: file('key_file'),
    // Prisma's parameter, which it adds to the URLs that it writes.
    schema: ifAny((schema) => ({ session: { search_path: doubleQuoted(schema) } })),
    gssencmode: oneOf({ disable: nothing, prefer: nothing }),
    channel_binding: oneOf({ disable: nothing, prefer: nothing, require: { hasChannelBinding: true } }),
    options: ifAny((startupOptions) => {
      const allowed = allowedInsteadOf(startupOptions, reservedSettings);
      return allowed === undefined ? { startupOptions } : { allowed };
    }),
    application_name: ifAny((applicationName) => ({ applicationName })),
    fallback_application_name: () => nothing,
    connect_timeout: connectTimeout,
    client_encoding: oneOf({ utf8: nothing, 'utf-8': nothing, auto: nothing }),
    target_session_attrs: oneOf(Object.fromEntries(targetSessions.map((target) => [target, { target }]))),
  },
  reservedSettings,
  exampleTable: 'public.orders',
  hasRawTexts: true,
};
