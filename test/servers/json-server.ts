import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npmProject } from './npm-project.ts';
import { launch, ServerFolder } from './server.ts';
import type { WebServer } from './web-server.ts';

/** Starts json-server with these lists, by path. */
export async function startJsonServer(lists: Readonly<Record<string, readonly object[]>>): Promise<WebServer> {
  const program = join(await npmProject('rest'), 'node_modules/.bin/json-server');
  const folder = await ServerFolder.make('json-server');
  const data = join(folder.path, 'data.json');
  await writeFile(data, JSON.stringify(lists));
  const { port, server } = await launch({
    start: (port) =>
      folder.start(process.execPath, [program, '--quiet', '--host', '127.0.0.1', '--port', String(port), data], {
        as: 'us',
      }),
    answers: async (port) => {
      await (await fetch(`http://127.0.0.1:${port}/`)).body?.cancel();
    },
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop() };
}
