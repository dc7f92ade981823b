import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Runtime } from '../../daemon/compose.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { type ConfigTerms, whyOther } from './config-terms.ts';
import { namespaces } from './environment.ts';
import { PrivateFolder } from './private-folder.ts';
import { codeLocation, protocolVersion, type SyncRequest, socketName } from './protocol.ts';
import { SyncCall } from './sync-call.ts';

export interface ListenerOptions {
  readonly daemon: Daemon;
  readonly runtime: Runtime;
}

const maxCalls = 32;

/** Listens on the daemon's socket for `sluice sync` commands that hand their runs over to the daemon. */
export class SyncListener {
  readonly #options: ListenerOptions;
  readonly #folder: PrivateFolder;
  readonly #server: Server;
  #terms: ConfigTerms | undefined;
  /** The inode of the socket file. */
  #inode: number | undefined;
  #isClosed = false;

  /**
   * Returns undefined if no client could use the socket, because another user owns the folder or the file system
   * doesn't support sockets.
   */
  static async open(options: ListenerOptions): Promise<SyncListener | undefined> {
    const folder = PrivateFolder.open(options.runtime.store.folder);
    if (folder === undefined) return undefined;
    const listener = new SyncListener(options, folder);
    try {
      await listener.#listen();
      return listener;
    } catch (error) {
      options.runtime.log.warn('sync.not_accepted', { error: String(error) });
      listener.close();
      return undefined;
    }
  }

  private constructor(options: ListenerOptions, folder: PrivateFolder) {
    this.#options = options;
    this.#folder = folder;
    this.#server = createServer((socket) => this.#take(socket));
    this.#server.maxConnections = maxCalls;
  }

  /** Call this whenever a config has become active. */
  adopt(terms: ConfigTerms): void {
    this.#terms = terms;
  }

  /** Stops accepting calls. Calls in progress end when the daemon's runs have ended. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const path = this.#folder.pathOf(socketName);
    // If this daemon was suspended, another daemon may have replaced it and created a socket of its own, which must be
    // kept.
    const inode = lstatSync(path, { throwIfNoEntry: false })?.ino;
    if (inode !== undefined && inode === this.#inode) rmSync(path);
    // When the server closes, it removes the path that it was bound to, so the folder must stay open until then.
    this.#server.close(() => this.#folder.close());
  }

  /**
   * Sets the socket's permissions before renaming the socket to its final name. This may replace the socket of a killed
   * daemon, which is safe because this process holds the daemon's lease.
   */
  async #listen(): Promise<void> {
    const draft = this.#folder.pathOf(`.${socketName}.new`);
    rmSync(draft, { force: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(draft, resolve);
    await promise;
    this.#server.off('error', reject).on('error', () => undefined);
    this.#inode = lstatSync(draft).ino;
    chmodSync(draft, 0o600);
    renameSync(draft, this.#folder.pathOf(socketName));
  }

  #take(socket: Socket): void {
    new SyncCall(socket, {
      declines: (request) => this.#declines(request),
      facts: () => ({ pid: process.pid, namespaces: namespaces(), variables: this.#terms?.inputs.variables ?? [] }),
      serve: async (given) => {
        const { serveSync } = await import('./serve-sync.ts');
        const { daemon, runtime } = this.#options;
        runtime.log.info('sync.handed_over', { jobs: given.request.jobs });
        return serveSync({ ...given, daemon, terms: this.#terms! });
      },
    });
  }

  async #declines(request: SyncRequest): Promise<string | undefined> {
    const { daemon, runtime } = this.#options;
    const terms = this.#terms;
    if (request.version !== protocolVersion || request.code !== codeLocation) return 'it has another version';
    if (runtime.installation?.look() !== false || this.#isClosed) return 'it is about to end';
    if (request.node.join(' ') !== process.execArgv.join(' ')) return 'Node has other options';
    if (terms === undefined || terms.config !== daemon.config) return 'it is loading a config';
    const why = await whyOther(terms, request);
    return terms.config === daemon.config ? why : 'it is loading a config';
  }
}
