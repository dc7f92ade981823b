import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { constants, copyFile, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { commandLine } from '../../lib/command-line.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { Problem } from '../../lib/problem.ts';
import { shipped } from './shipped-files.ts';

/** The files that `init` wrote, with absolute paths. */
export interface InitResult {
  readonly config: string;
  /** The JSON Schema for editors, which is in the same folder as the config. */
  readonly schema: string;
  /** A small csv file for the starter config's first job; undefined for other configs. */
  readonly sample?: string;
}

export interface InitConfigOptions {
  readonly path: string;
  readonly force?: boolean;
  /** The text of the config. Default: the starter config. */
  readonly config?: string;
}

const schemaName = 'sluice.schema.json';
const sampleName = 'sluice-sample.csv';

/**
 * Writes a first config with comments, its JSON Schema for editors, and a sample file to read. Each file is written
 * atomically. An existing config is kept unless `force` is set. The schema is always replaced. If a different file
 * already has the sample's name, the sample gets another name.
 */
export async function initConfig({ path, force = false, config: text }: InitConfigOptions): Promise<InitResult> {
  const config = resolve(path);
  const folder = dirname(config);
  const schema = join(folder, schemaName);
  try {
    makeFolder(folder);
  } catch (error) {
    throw unwritable(error as Error, path);
  }
  const sample = text === undefined ? await starter(folder) : undefined;
  await place(config, text ?? sample!.config, { force, shown: path });
  await place(schema, await shipped(schemaName), { force: true, shown: join(dirname(path), schemaName) });
  if (sample === undefined) return { config, schema };
  const { name, rows } = sample;
  await place(join(folder, name), rows, { force: true, shown: join(dirname(path), name) });
  return { config, schema, sample: join(folder, name) };
}

/** Throws `INIT_EXISTS` if the file exists. */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw existing(path);
}

async function starter(folder: string): Promise<{ name: string; rows: string; config: string }> {
  const rows = await shipped(sampleName);
  const name = await freeName(folder, rows);
  return { name, rows, config: (await shipped('starter.yaml')).replaceAll(sampleName, name) };
}

/** A name for the sample. No file with different contents has this name. */
async function freeName(folder: string, rows: string): Promise<string> {
  for (let n = 1; ; n++) {
    const name = n === 1 ? sampleName : sampleName.replace('.csv', `-${n}.csv`);
    const there = await readFile(join(folder, name), 'utf8').catch(({ code }: NodeJS.ErrnoException) =>
      // A file with this name exists but can't be read. For any other error, the name is used: either it's free, or
      // writing the sample will fail.
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

/** Never overwrites a file, even if another process creates it at the same time. */
async function linkNew(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EPERM' && code !== 'ENOTSUP') throw error;
    // The file system doesn't support hard links.
    await copyFile(draft, file, constants.COPYFILE_EXCL);
  }
}

function problemOf(error: NodeJS.ErrnoException, file: string): Problem {
  return error.code === 'EEXIST' ? existing(file, error) : unwritable(error, file);
}

function existing(file: string, cause?: Error): Problem {
  return new Problem({
    code: 'INIT_EXISTS',
    family: 'config',
    message: `${file} already exists and was not changed`,
    next: `write another file (sluice init OTHER.yaml), or replace this one: ${commandLine('sluice', 'init', file, '--force')}`,
    cause,
  });
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
