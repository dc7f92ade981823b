import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { cached, runTool } from './fetch.ts';
import { findProgram } from './server.ts';

/** The oldest Go that downloads the Go version that a module asks for. */
const minGo = [1, 21] as const;

const findGo = () => findProgram('go', ['/usr/local/go/bin', '/usr/lib/go-*/bin']);

export function hasGo(): boolean {
  const go = findGo();
  if (go === undefined) return false;
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(execFileSync(go, ['version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > minGo[0] || Number(minor) >= minGo[1];
}

/**
 * Returns a program that is written in Go. Compiles it on first use, which takes minutes. Go verifies the module and its
 * dependencies with its checksum database.
 */
export async function goProgram(name: string, module: string, version: string): Promise<string> {
  const folder = await cached(`${name}-${version}`, async (made) => {
    await runTool('env', [`GOBIN=${made}`, findGo()!, 'install', `${module}@${version}`]);
  });
  return join(folder, basename(module));
}
