import { launch, type ServerFolder, type Supervised, type TestServer, untilAnswers } from './server.ts';

interface Database {
  readonly folder: ServerFolder;
  readonly scheme: 'postgres' | 'mysql' | 'clickhouse';
  readonly account: Pick<TestServer, 'user' | 'password' | 'database'>;
  /** Starts the server on the port, with its existing data. */
  start(port: number): Promise<Supervised>;
  /** One login attempt; rejects if the server refuses it. */
  answers(port: number): Promise<void>;
  /** The signal that ends the server and all its processes, like a power failure. */
  readonly killSignal: NodeJS.Signals;
}

/** Starts a database server on a free port. */
export async function startDatabase({
  folder,
  scheme,
  account,
  start,
  answers,
  killSignal,
}: Database): Promise<TestServer> {
  const { port, server: first } = await launch({ start, answers });
  let server = first;
  const { user, password, database } = account;
  return {
    url: `${scheme}://${user}:${password}@127.0.0.1:${port}/${database}`,
    host: '127.0.0.1',
    port,
    ...account,
    folder: folder.path,
    stop: () => server.stop(),
    kill: () => server.kill(killSignal),
    signal: (name) => server.signal(name),
    restart: async () => {
      let failure: unknown;
      // Processes of a killed server may hold its data for a moment longer.
      for (let tries = 0; tries < 20; tries++) {
        await server.stop({ keepFolder: true });
        server = await start(port);
        failure = await untilAnswers(server, () => answers(port));
        if (failure === undefined) return;
      }
      throw new Error(`the server did not start again: ${String(failure)}\n${await server.lastWords()}`);
    },
  };
}
