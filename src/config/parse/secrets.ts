import { schemaOf } from '../../sdk/option.ts';
import { secretsOptions } from '../../secrets/index.ts';
import { SecretReader } from '../../secrets/secret-reader.ts';
import { fits } from '../options/fits.ts';
import type { Faults } from '../text/faults.ts';
import type { VariableSettings } from '../text/variable-scan.ts';
import { type Part, resolvePart } from '../text/variables.ts';

/**
 * Parses the `secrets` section. Returns a secret reader with the section's settings. Secrets in the section itself must
 * come from elsewhere.
 */
export async function openSecrets(
  value: unknown,
  settings: VariableSettings,
  faults: Faults,
): Promise<{ secrets: SecretReader; section: Part }> {
  const section = await resolvePart({ path: '/secrets', value }, settings, faults);
  const isSound = section.broken.size === 0 && fits(schemaOf(secretsOptions), section.value ?? {});
  const { folder: cwd, env, signal } = settings;
  const given = isSound ? ((section.value ?? {}) as Record<string, unknown>) : false;
  return { secrets: new SecretReader({ settings: given, cwd, env, signal }), section };
}
