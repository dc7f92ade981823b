import { afterAll, beforeAll, describe, it } from 'vitest';
import { reportMissing } from './describe.ts';
import type { FileServer, FileServerSettings } from './file-server.ts';
import { hasProftpd, startProftpd } from './proftpd.ts';
import { hasPureFtpd, startPureFtpd } from './pureftpd.ts';
import { hasPythonServer, type PythonFileServer, type PythonServer, startPythonServer } from './python-files.ts';
import { hasSshd, type SshServer, startSshd } from './sshd.ts';
import { hasVsftpd, startVsftpd } from './vsftpd.ts';

interface Servers {
  readonly ProFTPD: FileServer;
  readonly 'Pure-FTPd': FileServer;
  readonly vsftpd: FileServer;
  readonly sshd: SshServer;
  readonly pyftpdlib: PythonFileServer;
  readonly Twisted: PythonFileServer;
  readonly asyncssh: PythonFileServer;
}

type Kinds = {
  readonly [K in keyof Servers]: {
    isInstalled(): boolean;
    start(settings?: FileServerSettings): Promise<Servers[K]>;
    readonly packages: string;
    /** It can't run as any other user. */
    readonly needsRoot?: true;
  };
};

const kinds: Kinds = {
  ProFTPD: { isInstalled: hasProftpd, start: startProftpd, packages: 'proftpd-core proftpd-mod-crypto' },
  'Pure-FTPd': { isInstalled: hasPureFtpd, start: startPureFtpd, packages: 'pure-ftpd', needsRoot: true },
  vsftpd: { isInstalled: hasVsftpd, start: startVsftpd, packages: 'vsftpd' },
  ...pythonServers(),
  sshd: { isInstalled: hasSshd, start: startSshd, packages: 'openssh-server openssh-client' },
};

/** Only for suites in `test/real`. */
function pythonServers() {
  const kind = (library: PythonServer) => ({
    isInstalled: () => hasPythonServer(library),
    start: (settings?: FileServerSettings) => startPythonServer(library, settings),
    packages: `python3-${library}`,
  });
  return { pyftpdlib: kind('pyftpdlib'), Twisted: kind('twisted'), asyncssh: kind('asyncssh') };
}

export interface FileServerSuite<K extends keyof Servers> {
  readonly server: K;
  /** Created when the suite starts, so that no certificates are made if the server is missing. */
  readonly settings?: () => Promise<FileServerSettings> | FileServerSettings;
}

/**
 * A `describe` for one real file server. The body gets a function that returns the server, for use in tests and hooks.
 */
export function describeWithFileServer<K extends keyof Servers>(
  { server: kind, settings }: FileServerSuite<K>,
  title: string,
  body: (server: () => Servers[K]) => void,
): void {
  const { isInstalled, start, packages, needsRoot = false } = kinds[kind];
  if (needsRoot && process.getuid?.() !== 0) {
    it.skip(`${title} (not run: ${kind} needs root)`, () => {});
    return;
  }
  if (!isInstalled()) {
    reportMissing(title, [kind], packages);
    return;
  }
  describe(title, () => {
    let running: Servers[K] | undefined;
    beforeAll(async () => {
      running = await start(await settings?.());
    });
    afterAll(async () => await running?.stop());
    body(() => running!);
  });
}
