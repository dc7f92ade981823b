import { writeFile } from 'node:fs/promises';

/**
 * A step of `npm run build`: dist/ gets a package.json of its own, so that `#sdk` and `#sdk/testing` mean the built files
 * there.
 */
const scope = {
  type: 'module',
  imports: { '#sdk': './src/sdk/index.js', '#sdk/testing': './src/sdk/testing/index.js' },
};
await writeFile(new URL('../../dist/package.json', import.meta.url), `${JSON.stringify(scope, undefined, 2)}\n`);
