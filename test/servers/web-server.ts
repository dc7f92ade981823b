import { launch, ServerFolder } from './server.ts';

/** A running HTTP server. */
export interface WebServer {
  readonly url: string;
  stop(): Promise<void>;
}

interface WebServerOptions {
  readonly name: string;
  readonly program: string;
  readonly args: (port: number, folder: string) => readonly string[];
  /** Files to write into the server's folder first, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts a program that serves HTTP on a port of this machine. Any response means that it's ready. */
export async function startWebServer({ name, program, args, files = {} }: WebServerOptions): Promise<WebServer> {
  const folder = await ServerFolder.make(name);
  for (const [file, text] of Object.entries(files)) await folder.write(file, text);
  const { port, server } = await launch({
    start: (port) => folder.start(program, args(port, folder.path), { as: 'us' }),
    answers: async (port) => {
      await (await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })).body?.cancel();
    },
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop() };
}
