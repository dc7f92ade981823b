import { join } from 'node:path';
import { npmProject } from './npm-project.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const program = `const api = require('jsonapi-server');
const attributes = { text: api.Joi.string(), total: api.Joi.number() };
const examples = Array.from({ length: 47 }, (_, i) => ({ id: String(i + 1), type: 'items', text: 'é "' + (i + 1) + '"', total: (i + 1) / 4 }));
api.setConfig({ protocol: 'http', hostname: '127.0.0.1', port: Number(process.argv[2]), base: 'rest', meta: {} });
api.define({ resource: 'items', handlers: new api.MemoryHandler(), attributes, examples });
const people = [1, 2].map((id) => ({ id: String(id), type: 'people', name: 'é "' + id + '"' }));
api.define({ resource: 'people', handlers: new api.MemoryHandler(), attributes: { name: api.Joi.string() }, examples: people });
const customer = (id) => (id % 3 === 0 ? {} : { customer: { type: 'people', id: String(id % 3) } });
api.define({
  resource: 'orders',
  handlers: new api.MemoryHandler(),
  attributes: { total: api.Joi.number(), customer: api.Joi.one('people') },
  examples: Array.from({ length: 47 }, (_, i) => ({ id: String(i + 1), type: 'orders', total: (i + 1) / 4, ...customer(i + 1) })),
});
api.start();
`;

/** jsonapi-server with 47 resources at `/rest/items`, and 47 at `/rest/orders` that refer to two at `/rest/people`. */
export async function startJsonApi(): Promise<WebServer> {
  const folder = await npmProject('rest', { 'jsonapi.cjs': program });
  const args = (port: number) => [join(folder, 'jsonapi.cjs'), String(port)];
  return startWebServer({ name: 'jsonapi', program: process.execPath, args });
}
