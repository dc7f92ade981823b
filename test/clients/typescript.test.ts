import { cp, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { describe, it } from 'vitest';
import { reportMissing } from '../servers/describe.ts';
import { runTool } from '../servers/fetch.ts';
import { hasNpm, npmProject } from '../servers/npm-project.ts';
import { scratch } from '../service/service.ts';
import { type DocumentFile, documentFile, generatedClient } from './documents.ts';
import { runScenario } from './scenario.ts';

const programs = join(import.meta.dirname, 'programs');
const compiler = resolve(import.meta.dirname, '../../node_modules/.bin/tsc');
const strict = [
  '--ignoreConfig',
  '--strict',
  '--noUncheckedIndexedAccess',
  '--skipLibCheck',
  '--noEmit',
  '--allowImportingTsExtensions',
];
const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'esnext', '--types', 'node'];

interface TypeScriptClient {
  readonly program: string;
  /** The generator's program in `node_modules/.bin`. */
  readonly generator: string;
  readonly args: (document: string, folder: string) => readonly string[];
}

const clients: readonly TypeScriptClient[] = [
  {
    program: 'openapi-fetch',
    generator: 'openapi-typescript',
    args: (document, folder) => [document, '-o', join(folder, 'schema.ts')],
  },
  {
    program: 'hey-api',
    generator: 'openapi-ts',
    args: (document, folder) => ['-i', document, '-o', join(folder, 'client'), '-c', '@hey-api/client-fetch'],
  },
];

if (!hasNpm()) reportMissing('TypeScript clients', ['npm'], 'npm');
else
  describe('a TypeScript client', () => {
    it.each(clients)('from $generator compiles under strict settings and runs the scenario', async (client) => {
      for (const document of [await documentFile('3.1'), await documentFile('3.0')]) await prove(client, document);
    });
  });

async function prove({ program, generator, args }: TypeScriptClient, document: DocumentFile): Promise<void> {
  const tools = await npmProject('clients');
  const made = await generatedClient(
    {
      name: program,
      // The name of the project's folder contains the hash of the versions.
      recipe: [basename(tools), generator, ...args('', '')],
      make: (folder) => runTool(join(tools, 'node_modules/.bin', generator), args(document.file, folder)),
    },
    document,
  );
  const folder = await scratch();
  await cp(made, folder, { recursive: true });
  await symlink(join(tools, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(programs, `${program}.ts`), join(folder, 'main.ts'));
  await runTool(compiler, [
    ...strict,
    ...modules,
    '--typeRoots',
    join(folder, 'node_modules/@types'),
    join(folder, 'main.ts'),
  ]);
  const bundle = await rolldown({ input: join(folder, 'main.ts'), platform: 'node', logLevel: 'silent' });
  await bundle.write({ file: join(folder, 'main.js'), format: 'esm' });
  await runScenario({ command: process.execPath, args: [join(folder, 'main.js')] });
}
