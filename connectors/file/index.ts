import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  changedFilesTraits,
  defineConnector,
  discoverFiles,
  isReadableName,
  parseFilesRead,
  readChangedFiles,
  recordFaults,
} from '#sdk';
import { findFiles, unreadable } from './find.ts';
import { query, source } from './options.ts';
import { reference } from './reference.ts';
import { selectFiles } from './select.ts';
import { watchFile } from './watched-input.ts';

/** Reads csv, json, jsonl, xml and xlsx files, with flat memory use for any file size. */
export default defineConnector({
  id: 'file',
  title: 'File',
  summary: 'Reads csv, json, json lines, xml or xlsx from one or more files, compressed or not.',
  source,
  query,
  ...reference,
  shorthand: 'path',
  // Local files need no login, so firings don't check whether a login is on hold.
  account: () => undefined,
  ...changedFilesTraits,

  validate: ({ query: given }) => (given === undefined ? [] : recordFaults(given)),

  async check({ source: { folder }, folder: home }) {
    const path = resolve(home, folder ?? '.');
    try {
      const entries = await readdir(path, { withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).length;
      return `${path} exists and contains ${files} ${files === 1 ? 'file' : 'files'}`;
    } catch (error) {
      throw unreadable(path, error);
    }
  },

  async discover({ source: { folder }, folder: home, pattern, signal }) {
    const found = await findFiles(resolve(home, folder ?? '.'), pattern ?? '*', { none: pattern === undefined });
    const readable = pattern === undefined ? found.filter(({ name }) => isReadableName(name)) : found;
    const watched = await Promise.all(readable.map((one) => watchFile(one, signal)));
    return discoverFiles(
      watched.map(({ input }) => input),
      signal,
    );
  },

  async extract({ source: { folder }, folder: home, query: given, watermark, signal, log, warn }) {
    const before = parseFilesRead(watermark);
    const { inputs, after } = await selectFiles({
      folder: resolve(home, folder ?? '.'),
      query: given,
      before,
      signal,
    });
    log.debug('files found', { files: inputs.length });
    return readChangedFiles(inputs, given, { after, watermark, warn });
  },
});
