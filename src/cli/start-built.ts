import { enableCompileCache } from 'node:module';
import { CompiledCode } from './compiled-code.ts';

/** Runs a command of the built package. `cache`: a folder of the user's own. */
export async function startBuilt(cache: string): Promise<void> {
  const code = new CompiledCode(cache);
  // The command that runs most often, and that needs most of the code of all others.
  const isSync = process.argv[2] === 'sync';
  if (!isSync) enableCompileCache(`${cache}/compiled`);
  const load = code.install({ compiles: isSync });
  await (load('src/cli/main.js') as typeof import('./main.ts')).ended;
  if (isSync) code.save();
}
