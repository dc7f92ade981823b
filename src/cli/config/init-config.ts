import { randomBytes } from 'node:crypto';
import { constants, copyFile, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { commandLine } from '../../lib/command-line.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { Problem } from '../../lib/problem.ts';
import { shipped } from './shipped-files.ts';

/** The files that `init` wrote, as absolute paths. */
export interface InitResult {
  readonly config: string;
  /** The JSON Schema for editors, in the same folder. */
  readonly schema: string;
  /** A small csv file for the first job. */
  readonly sample: string;
}

const schemaName = 'sluice.schema.json';
const sampleName = 'sluice-sample.csv';

/**
 * Writes a commented first config, its JSON Schema for editors, and a sample file to read. Each file is written
 * atomically. An existing config is kept unless `force` is set; the schema is always replaced; if a different file with
 * the sample's name exists, the sample gets another name.
 */
export async function initConfig({ path, force = false }: { path: string; force?: boolean }): Promise<InitResult> {
  const config = resolve(path);
  const folder = dirname(config);
  try {
    makeFolder(folder);
  } catch (error) {
    throw unwritable(error as Error, path);
  }
  const rows = await shipped(sampleName);
  const sample = await freeName(folder, rows);
  const starter = (await shipped('starter.yaml')).replaceAll(sampleName, sample);
  await place(config, starter, { force, shown: path });
  for (const [name, text] of [
    [schemaName, await shipped(schemaName)],
    [sample, rows],
  ] as const) {
    await place(join(folder, name), text, { force: true, shown: join(dirname(path), name) });
  }
  return { config, schema: join(folder, schemaName), sample: join(folder, sample) };
}

/** A name for the sample that isn't used by a file with other contents. */
async function freeName(folder: string, rows: string): Promise<string> {
  for (let n = 1; ; n++) {
    const name = n === 1 ? sampleName : sampleName.replace('.csv', `-${n}.csv`);
    const there = await readFile(join(folder, name), 'utf8').catch(({ code }: NodeJS.ErrnoException) =>
      // The name is in use; any other error appears when the sample is written.
      code === 'EACCES' || code === 'EISDIR' ? '' : rows,
    );
    if (there === rows) return name;
  }
}

async function place(file: string, text: string, { force, shown }: { force: boolean; shown: string }): Promise<void> {
  const draft = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await writeFile(draft, text);
    if (force) await rename(draft, file);
    else await linkNew(draft, file);
  } catch (error) {
    throw problemOf(error as NodeJS.ErrnoException, shown);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Never overwrites, even if another process creates the file at the same time. */
async function linkNew(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EPERM' && code !== 'ENOTSUP') throw error;
    // A file system without hard links.
    await copyFile(draft, file, constants.COPYFILE_EXCL);
  }
}

function problemOf(error: NodeJS.ErrnoException, file: string): Problem {
  if (error.code === 'EEXIST') {
    return new Problem({
      code: 'INIT_EXISTS',
      family: 'config',
      message: `${file} already exists and was not changed`,
      next: `write elsewhere (sluice init OTHER.yaml), or replace it: ${commandLine('sluice', 'init', file, '--force')}`,
      cause: error,
    });
  }
  return unwritable(error, file);
}

function unwritable(error: Error, file: string): Problem {
  return new Problem({
    code: 'INIT_UNWRITABLE',
    family: 'config',
    message: `${file} cannot be written`,
    seen: error.message,
    next: 'choose a writable folder',
    cause: error,
  });
}
