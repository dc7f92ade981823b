import { enableCompileCache } from 'node:module';
import { CompiledCode } from './compiled-code.ts';

/** Runs a command of the built package. `cache` is the user's folder for Node's compile cache. */
export async function startBuilt(cache: string): Promise<void> {
  const code = new CompiledCode(cache);
  // `sync` is the most frequently run command, and its code includes most of what other commands need.
  const isSync = process.argv[2] === 'sync';
  if (!isSync) enableCompileCache(`${cache}/compiled`);
  const load = code.install({ compiles: isSync });
  await (load('src/cli/main.js') as typeof import('./main.ts')).ended;
  if (isSync) code.save();
}
