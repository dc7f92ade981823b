import { dirname, resolve } from 'node:path';
import { topOptions } from '../config/options/settings.ts';
import { validatePart } from '../config/parse/validate.ts';
import { readDocument } from '../config/text/document.ts';
import { Faults } from '../config/text/faults.ts';
import { readText } from '../config/text/read-text.ts';
import { resolvePart } from '../config/text/variables.ts';
import { isMap } from '../lib/is-map.ts';
import { Problem } from '../lib/problem.ts';
import { schemaOf, withDefaults } from '../sdk/option.ts';

const { state } = topOptions;

/**
 * Reads only the state folder from a config, so that commands that use only the state work even if the config has other
 * errors. Throws the first error in the file's syntax or in the `state` option.
 */
export async function stateFolderOf(file: string): Promise<string> {
  const text = await readText(file);
  if (text instanceof Problem) throw text;
  const document = readDocument(file, text);
  const faults = new Faults(document);
  const written = isMap(document.value) ? document.value : {};
  const folder = dirname(resolve(file));
  const given = { env: process.env, folder, allowCommands: written.allow_commands === true };
  const value = written.state === undefined ? {} : { state: written.state };
  const part = await resolvePart({ path: '', value }, given, faults);
  validatePart(part, { schema: schemaOf({ state }), noun: 'config', faults });
  const [fault] = [...document.problems, ...faults.problems];
  if (fault !== undefined) throw fault;
  return resolve(folder, String(withDefaults({ state }, part.value as Record<string, unknown>).state));
}

/**
 * Like {@link stateFolderOf}, but for commands that may run while a daemon is running. A daemon keeps running while its
 * config file has errors, so this function then falls back to $SLUICE_STATE, which the systemd units and container
 * images set.
 */
export async function findStateFolder(file: string): Promise<string> {
  return stateFolderOf(file).catch((thrown: unknown) => {
    const { SLUICE_STATE: folder } = process.env;
    if (folder !== undefined && folder !== '') return folder;
    throw thrown instanceof Problem ? thrown.with({ next: withFolder(thrown.next) }) : thrown;
  });
}

function withFolder(next: string | undefined): string {
  const advice = 'set SLUICE_STATE to the state folder, so that this command needs no config';
  return next === undefined ? advice : `${next}; or ${advice}`;
}
