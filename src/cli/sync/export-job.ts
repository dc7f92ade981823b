import { lstat, open, rename, rm } from 'node:fs/promises';
import type { Job } from '../../config/config.ts';
import { formats } from '../../formats/index.ts';
import { Problem } from '../../lib/problem.ts';
import { withDefaults } from '../../sdk/option.ts';

/**
 * The job that `sync JOB --to FILE` runs. The file's extension determines the format. If the extension is unknown, the
 * job's own format is used.
 */
export async function jobForFile(jobs: readonly Job[], file: string): Promise<Job> {
  const [job, ...others] = jobs;
  if (job?.extract === undefined || others.length > 0) {
    throw badTo(`--to writes the rows of a single job, but ${reasonOf(jobs)}`, 'specify one job that has a source');
  }
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() === false) {
    throw badTo(
      `--to can write only to a regular file, but ${file} is not one`,
      'specify a file that does not exist or may be replaced',
    );
  }
  const { extract } = job;
  const format = formats.find(({ fileEnding }) => file.toLowerCase().endsWith(fileEnding));
  if (format === undefined || format.id === extract.format.id) return job;
  return { ...job, extract: { ...extract, format, formatOptions: withDefaults(format.options, {}) } };
}

interface Written<T> {
  readonly isDone: boolean;
  readonly result: T;
}

/** Replaces a file atomically. `write` writes a temporary file in the same folder; that file is then renamed. */
export async function replaceFile<T>(file: string, write: (part: string) => Promise<Written<T>>): Promise<T> {
  const part = `${file}.${process.pid}.part`;
  try {
    const { isDone, result } = await write(part);
    if (isDone) {
      await syncFile(part);
      await rename(part, file);
    }
    return result;
  } finally {
    await rm(part, { force: true });
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function reasonOf(jobs: readonly Job[]): string {
  if (jobs.length !== 1) return `${jobs.length} are selected`;
  return `"${jobs[0]!.name}" starts refreshes, which have no rows`;
}

function badTo(message: string, next: string): Problem {
  return new Problem({ code: 'CLI_OPTION', family: 'config', message, next });
}
