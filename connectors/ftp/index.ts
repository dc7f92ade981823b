import { mkdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import {
  changedFilesTraits,
  type Dataset,
  type DiscoverContext,
  defineConnector,
  discoverFiles,
  type ExtractContext,
  type FilesRead,
  finishFilesBy,
  isReadableName,
  logInBy,
  parseFilesRead,
  type RecordInput,
  readChangedFiles,
  recordFaults,
  type SourceContext,
  storedBytes,
  withDefaults,
  writtenPaths,
} from '#sdk';
import { fetchFile } from './fetch-file.ts';
import { findFiles } from './find.ts';
import { remoteFiles } from './finish-files.ts';
import { query, source } from './options.ts';
import { placeOf } from './place.ts';
import { ReconnectingSession } from './reconnecting-session.ts';
import { reference } from './reference.ts';
import { type Selection, selectFiles } from './select.ts';
import type { Connect } from './session.ts';
import { faultsOf } from './validate.ts';

interface Fetched {
  /** The file's name on the server. */
  readonly name: string;
  /** Path of the local copy. */
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly modified: number | undefined;
  readonly signal: AbortSignal;
}

/** Returns a completely downloaded file as an input. */
function fetchedInput({ name, path, modified, signal }: Fetched): RecordInput {
  return {
    name,
    local: path,
    modified: modified === undefined ? undefined : new Date(modified),
    open: () => storedBytes(path, { signal }),
  };
}

type Extracting = ExtractContext<typeof source, typeof query>;

/** Reads files from FTP, FTPS and SFTP servers. Downloads each file completely before reading its first row. */
export default defineConnector({
  id: 'ftp',
  title: 'FTP, FTPS, SFTP',
  summary: 'Reads csv, json, json lines, xml or xlsx files from an FTP or SFTP server, compressed or not.',
  source,
  query,
  ...reference,
  shorthand: 'path',
  ...changedFilesTraits,
  ...finishFilesBy<typeof source>(
    async (context, path) =>
      remoteFiles(await openLine(context), { folder: context.source.folder, path: writtenPaths(path)[0]! }),
    // Each user may have another root folder.
    ({ host, user = '', folder = '' }, { path }) => ({
      place: `${user}@${host.toLowerCase()}`,
      pattern: path.startsWith('/') ? path : posix.join(folder, path),
    }),
  ),
  account: (given) => {
    const { user = 'anonymous', password, passphrase, tls, private_key_file } = given;
    const files = [tls.ca_file, tls.cert_file, tls.key_file, private_key_file];
    return { place: placeOf(given), user, secret: { password, passphrase, tls }, files };
  },

  validate: ({ source: given, query: asked }) => [
    ...faultsOf(given, asked),
    ...(asked === undefined ? [] : recordFaults(asked)),
  ],

  async check(context) {
    const line = await openLine(context);
    try {
      return await line.use(async (session) => {
        const folder = context.source.folder ?? session.home;
        const entries = await session.list(folder);
        const files = entries.filter(({ kind }) => kind === 'file').length;
        return `connected to ${placeOf(context.source)}; ${folder} contains ${files} ${files === 1 ? 'file' : 'files'}`;
      });
    } finally {
      line.close();
    }
  },

  async discover(context) {
    const { pattern } = context;
    if (pattern === undefined) return listAll(context);
    const asked = withDefaults(query, { path: pattern, settle_seconds: 0 });
    const { inputs } = await fetchAll({ ...context, query: asked, warn: () => undefined }, parseFilesRead(undefined));
    return discoverFiles(inputs, { signal: context.signal, scratch: () => context.scratch });
  },

  async extract(context) {
    const before = parseFilesRead(context.watermark);
    const { inputs, after } = await fetchAll(context, before);
    const { watermark, warn, keptColumns, preview } = context;
    const isPreview = preview !== undefined;
    const scratch = () => context.scratch;
    return readChangedFiles(inputs, context.query, { after, watermark, warn, keptColumns, isPreview, scratch });
  },
});

/**
 * The files in the folder, without their columns, because finding out the columns would require downloading the files.
 */
async function listAll(context: DiscoverContext<typeof source>): Promise<Dataset[]> {
  const { source: given, log } = context;
  const line = await openLine(context);
  try {
    const path = { path: '*', top: '.', isOptional: true };
    const finding = { folder: given.folder, path, none: true, log, warn: () => undefined };
    const { files } = await line.use((session) => findFiles(session, finding));
    return files
      .filter(({ name }) => isReadableName(name))
      .map(({ name }) => ({ name, kind: 'file', query: { path: name } }));
  } finally {
    line.close();
  }
}

async function openLine(context: SourceContext<typeof source>): Promise<ReconnectingSession> {
  const { source: given, folder, signal } = context;
  const open: Connect = async (stop) =>
    given.protocol === 'sftp'
      ? (await import('./sftp-session.ts')).openSftp(given, folder, stop)
      : (await import('./ftp-session.ts')).openFtp(given, folder, stop);
  const connect: Connect = (stop) => logInBy(context, () => open(stop));
  return await ReconnectingSession.open({ connect, signal });
}

interface FetchedAll {
  readonly inputs: readonly RecordInput[];
  readonly after: Selection['after'];
}

/** Downloads the query's files to the scratch folder. Reads no rows until all downloads are complete. */
async function fetchAll(context: Extracting, before: FilesRead): Promise<FetchedAll> {
  const { scratch, signal, log, alive = () => undefined } = context;
  const line = await openLine(context);
  try {
    const { files, after } = await line.use((session) => selectFiles(session, { ...context, before }));
    const folder = join(scratch, 'files');
    await mkdir(folder, { recursive: true });
    const inputs: RecordInput[] = [];
    for (const [i, settled] of files.entries()) {
      const { name, modified } = settled.file;
      const path = join(folder, String(i));
      const onResume = (at: number, { message }: Error) =>
        log.warn('a transfer was interrupted and is being resumed', { file: name, at, because: message });
      await fetchFile(settled, { line, to: path, alive, onResume });
      inputs.push(fetchedInput({ name, path, modified: settled.facts.modified ?? modified, signal }));
    }
    return { inputs, after };
  } finally {
    line.close();
  }
}
