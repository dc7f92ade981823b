import { Problem } from '#sdk';
import { addressOf, type ServerAddress } from './address.ts';
import { addressFaults } from './option-faults.ts';
import type { SourceValues } from './options.ts';
import { withPasswords } from './password-file.ts';
import { readService } from './service-file.ts';

/**
 * The complete address of a source, with what its connection service and its password file contain. Throws
 * `DB_SERVICE_FILE` or `DB_PASSWORD_FILE`.
 */
export async function readAddress(source: SourceValues, folder: string): Promise<ServerAddress> {
  const address = addressOf(source, await readService(source, folder));
  const [fault] = source.service === undefined ? [] : addressFaults(source, address, true);
  if (fault !== undefined) {
    throw new Problem({
      code: 'DB_SERVICE_FILE',
      family: 'config',
      message: `the option ${fault.option} of a source with the connection service ${source.service} ${fault.message}`,
      next: 'correct the option, or the entry in the connection service file',
    });
  }
  return source.passfile === undefined ? address : withPasswords(address, source.passfile, folder);
}
