import { openCatalog } from '../../config/catalog/catalog.ts';
import type { Source } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { registerEncodedSecret } from '../../lib/redact.ts';
import { withDefaults } from '../../sdk/option.ts';
import { connectorNamed } from '../connectors/catalog-of.ts';
import { type SourceAddress, sourceAt, splitAtPasswords } from './source-at.ts';

/** A source that isn't in a config and that is ready for use. */
export interface OpenAddressResult extends SourceAddress {
  readonly source: Source;
}

/** Opens the source at a path or URL. Throws `CLI_ADDRESS` if the URL is invalid. */
export async function openAddress(text: string): Promise<OpenAddressResult> {
  const address = sourceAt(text);
  for (const password of splitAtPasswords(address.options.url ?? '').passwords) registerEncodedSecret(password);
  const connector = await connectorNamed(address.connector, await openCatalog());
  const options = withDefaults(connector.source, address.options);
  const [fault] = connector.validate?.({ source: options }) ?? [];
  if (fault !== undefined) {
    throw new Problem({
      code: 'CLI_ADDRESS',
      family: 'config',
      message: `The ${fault.option} ${fault.message}`,
      allowed:
        'postgres://user@host/database, mysql://user@host/database, https://host/path of an API, or the path of a SQLite, DuckDB, Parquet, csv or xlsx file',
      next: 'correct the address',
    });
  }
  return { ...address, source: { name: address.connector, connector, options } };
}
