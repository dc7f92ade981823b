import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endServer, type FileServer, type FileServerSettings, greets, makeFiles } from './file-server.ts';
import { launch, ServerFolder } from './server.ts';

/** Debian's own Python regardless of PATH, because Debian's packages are built for it. */
const python = '/usr/bin/python3';
const user = 'sluice';
const password = 'python-test-password';

/** The libraries that serve files, by the script that starts each. */
export type PythonServer = 'pyftpdlib' | 'twisted' | 'asyncssh';

/** True if Debian's Python has the library. */
export function hasPythonServer(library: PythonServer): boolean {
  if (!existsSync(python)) return false;
  try {
    execFileSync(python, ['-c', `import ${library}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface PythonFileServer extends FileServer {
  /** The host's public key, if it's an SSH server. */
  readonly hostKey: string | undefined;
}

/** Starts a private file server of a Python library. The settings' `lines` are features to leave out. */
export async function startPythonServer(
  library: PythonServer,
  { lines = [] }: FileServerSettings = {},
): Promise<PythonFileServer> {
  const folder = await ServerFolder.make(library);
  const files = await makeFiles(folder);
  const script = new URL(`python/${library}_server.py`, import.meta.url);
  const copy = await folder.write('server.py', await readFile(script, 'utf8'));
  const { port, server } = await launch({
    start: (port) => folder.start(python, ['-W', 'ignore', copy, String(port), files, user, password, ...lines]),
    answers: (port) => greets(port),
  });
  const key = library === 'asyncssh' ? await readFile(join(folder.path, 'host.pub'), 'utf8') : undefined;
  const stop = () => endServer(server, folder);
  return { host: '127.0.0.1', port, user, password, files, folder: folder.path, hostKey: key?.trim(), stop };
}
