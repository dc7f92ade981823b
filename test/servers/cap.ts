import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npmProject } from './npm-project.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const model = `@path: '/odata'
service Shop {
  @readonly entity Items { key id : Integer; name : String; }
  @readonly @cds.query.limit: 10 entity Orders { key id : Integer; name : String; }
}
`;

/** CAP parses the URL and adds the next link; the service itself only has to compare the IDs and cut the page. */
const service = `module.exports = (srv) => srv.on('READ', ['Items', 'Orders'], ({ query: { SELECT: { where = [], limit } } }) => {
  const least = where[1] === '>' ? where[2].val : 0;
  const all = Array.from({ length: 47 }, (_, i) => ({ id: i + 1, name: 'item ' + (i + 1) })).filter(({ id }) => id > least);
  const from = limit?.offset?.val ?? 0;
  const page = all.slice(from, from + (limit?.rows?.val ?? all.length));
  page.$count = all.length;
  return page;
});
`;

/** SAP CAP, whose OData parser is strict, with 47 items at `/odata/Items` and, ten per page, at `/odata/Orders`. */
export async function startCap(): Promise<WebServer> {
  const folder = await npmProject('cap', { 'srv/shop.cds': model, 'srv/shop.js': service });
  const program = join(folder, 'node_modules/.bin/cds-serve');
  if (!existsSync(program)) throw new Error(`npm did not install ${program}`);
  // CAP serves the project in the current folder.
  const start = ['-c', 'cd "$1" && shift && exec "$@"', 'sh', folder, process.execPath, program, 'all', '--port'];
  return startWebServer({ name: 'cap', program: '/bin/sh', args: (port) => [...start, String(port)] });
}
