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
 * Where a config keeps its state, and nothing else of it: commands that look after the folder work beside a config that
 * has faults elsewhere. Throws the first fault of the file's text, or of that one option.
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
 * The same where a daemon may run: a slip of the pen in the file does no harm to it, and where units and images say the folder
 * ($SLUICE_STATE) it is known all the same.
 */
export async function findStateFolder(file: string): Promise<string> {
  return stateFolderOf(file).catch((thrown: unknown) => {
    const { SLUICE_STATE: folder } = process.env;
    if (folder !== undefined && folder !== '') return folder;
    throw thrown instanceof Problem ? thrown.with({ next: withFolder(thrown.next) }) : thrown;
  });
}

function withFolder(next: string | undefined): string {
  const advice = 'set SLUICE_STATE to the state folder: then this command needs no config';
  return next === undefined ? advice : `${next}; or ${advice}`;
}
