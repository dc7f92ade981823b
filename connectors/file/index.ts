import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineConnector, formatOfName, Problem, type RecordFormat, readRecords, recordFaults } from '#sdk';
import { type FoundFile, findFiles, unreadable } from './find.ts';
import { type FileQuery, query, source } from './options.ts';
import { reference } from './reference.ts';
import { watchFile } from './watched-input.ts';

/** Reads csv, json, jsonl and xml files. Memory stays flat whatever the files' size. */
export default defineConnector({
  id: 'file',
  title: 'File',
  summary: 'Reads csv, json, json lines or xml from one file or from several, gzipped or not.',
  source,
  query,
  ...reference,
  shorthand: 'path',

  validate: ({ query: given }) => (given === undefined ? [] : recordFaults(given)),

  async check({ source: { folder }, folder: home }) {
    const path = resolve(home, folder ?? '.');
    try {
      const entries = await readdir(path, { withFileTypes: true });
      return `${path} is there and holds ${entries.filter((entry) => entry.isFile()).length} files`;
    } catch (error) {
      throw unreadable(path, error);
    }
  },

  async extract({ source: { folder }, folder: home, query: given, signal, log }) {
    const files = await findFiles(resolve(home, folder ?? '.'), given.path);
    signal.throwIfAborted();
    const format = formatOf(files, given);
    log.debug('files found', { files: files.length, format });
    const inputs = await Promise.all(files.map((file) => watchFile(file, signal)));
    return await readRecords(inputs, {
      ...given,
      format,
      delimiter: given.delimiter === ',' && files.every(({ name }) => isTabbed(name)) ? '\t' : given.delimiter,
      inputColumn: given.path_column,
    });
  },
});

function isTabbed(name: string): boolean {
  return /\.tsv(?:\.gz)?$/i.test(name);
}

function formatOf(files: readonly FoundFile[], given: FileQuery): RecordFormat {
  if (given.format !== undefined) return given.format;
  const told = new Set(files.map(({ name }) => formatOfName(name)));
  const [format] = told;
  if (told.size === 1 && format !== undefined) return format;
  throw new Problem({
    code: 'FILE_FORMAT',
    family: 'config',
    message: told.size > 1 ? 'the files have different endings' : 'the ending of the file does not tell its format',
    seen: files
      .slice(0, 3)
      .map(({ name }) => name)
      .join(', '),
    allowed: '.csv, .tsv, .json, .jsonl, .ndjson, .xml, each also with .gz',
    next: 'set `format`',
  });
}
