import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineConnector, readFiles, recordFaults } from '#sdk';
import { findFiles, unreadable } from './find.ts';
import { query, source } from './options.ts';
import { reference } from './reference.ts';
import { watchFile } from './watched-input.ts';

/** Reads csv, json, jsonl, xml and xlsx files. Memory stays flat whatever the files' size. */
export default defineConnector({
  id: 'file',
  title: 'File',
  summary: 'Reads csv, json, json lines, xml or xlsx from one file or from several, packed or not.',
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
    log.debug('files found', { files: files.length });
    const inputs = await Promise.all(files.map((file) => watchFile(file, signal)));
    return await readFiles(inputs, given);
  },
});
