import { dirname, resolve } from 'node:path';
import { topOptions } from '../config/options/top.ts';
import { openSecrets } from '../config/parse/secrets.ts';
import { readStateLocation } from '../config/parse/state.ts';
import { validatePart } from '../config/parse/validate.ts';
import { readDocument } from '../config/text/document.ts';
import { Faults } from '../config/text/faults.ts';
import { readText } from '../config/text/read-text.ts';
import { registerSecrets } from '../config/text/register-secrets.ts';
import { secretVariablesIn } from '../config/text/variable-syntax.ts';
import { resolvePart } from '../config/text/variables.ts';
import { isMap } from '../lib/is-map.ts';
import { Problem } from '../lib/problem.ts';
import { schemaOf, withDefaults } from '../sdk/option.ts';
import type { StateLocation } from '../state/engine/state-database.ts';

export { stateText } from '../state/engine/state-database.ts';

const { state, cache } = topOptions;
const options = { state, cache };

/**
 * Reads only the state's location from a config, so that commands that use only the state work even if the config has
 * other errors. Throws the first error in the file's syntax or in the options `state` and `cache`.
 */
export async function stateLocationOf(file: string): Promise<StateLocation> {
  const text = await readText(file);
  if (text instanceof Problem) throw text;
  return locationIn(file, text);
}

async function locationIn(file: string, text: string): Promise<StateLocation> {
  const document = readDocument(file, text);
  const faults = new Faults(document);
  const written = isMap(document.value) ? document.value : {};
  const folder = dirname(resolve(file));
  const settings = { env: process.env, folder, allowCommands: written.allow_commands === true };
  const value = Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(options, name)));
  // The section with the providers' settings isn't read unless it's needed, because it may have errors.
  const needsSecrets = secretVariablesIn(JSON.stringify(value)).length > 0;
  const secrets = needsSecrets ? (await openSecrets(written.secrets, settings, faults)).secrets : undefined;
  await using _ = { [Symbol.asyncDispose]: async () => secrets?.close() };
  const part = await resolvePart({ path: '', value }, { ...settings, ...(secrets && { secrets }) }, faults);
  registerSecrets(part, options);
  validatePart(part, { schema: schemaOf(options), noun: 'config', faults });
  const [fault] = [...document.problems, ...faults.problems];
  if (fault !== undefined) throw fault;
  const values = withDefaults(options, part.value as Record<string, unknown>);
  const location = readStateLocation(values, { at: part, folder, faults });
  if (faults.problems[0] !== undefined) throw faults.problems[0];
  return location;
}

/**
 * Like {@link stateLocationOf}, but for commands that may run while a daemon is running. A daemon keeps running while
 * its config file has errors, so this function then falls back to $SLUICE_STATE, which the systemd units and container
 * images set.
 */
export async function findStateLocation(file: string): Promise<StateLocation> {
  return stateLocationOf(file).catch((thrown: unknown) => {
    const { SLUICE_STATE: written } = process.env;
    if (written !== undefined && written !== '') return locationIn('SLUICE_STATE', JSON.stringify({ state: written }));
    throw thrown instanceof Problem ? thrown.with({ next: withFolder(thrown.next) }) : thrown;
  });
}

function withFolder(next: string | undefined): string {
  const advice = 'set SLUICE_STATE to the state folder, so that this command needs no config';
  return next === undefined ? advice : `${next}; or ${advice}`;
}
