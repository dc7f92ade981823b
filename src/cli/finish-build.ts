import { writeFile } from 'node:fs/promises';

/** The last step of `npm run build`: dist/ gets a package.json of its own, so that `#sdk` means the built files there. */
const scope = { type: 'module', imports: { '#sdk': './src/sdk/index.js' } };
await writeFile(new URL('../../dist/package.json', import.meta.url), `${JSON.stringify(scope, undefined, 2)}\n`);
