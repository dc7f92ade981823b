import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { cached, runTool } from './fetch.ts';
import { hasVenv, venvOf } from './python-venv.ts';
import { findProgram } from './server.ts';

/** Go verifies the module and its dependencies with its checksum database. */
const helmVersion = 'v3.22.0';
/** The oldest Go that downloads the Go version that a module asks for. */
const minGo = [1, 21] as const;

/** The tools that read deployment files. */
export interface ManifestTools {
  /** A Python with `kubernetes_validate` and `check_jsonschema`, which include their schemas. */
  readonly python: string;
  readonly helm: string;
}

/** What this machine lacks to fetch the tools. */
export function missingForManifests(): string[] {
  return [...(hasGo() ? [] : ['Go 1.21']), ...(hasVenv() ? [] : ['Python with venv'])];
}

/** The Go program. */
export const findGo = () => findProgram('go', ['/usr/local/go/bin', '/usr/lib/go-*/bin']);

/** Whether this machine has a Go that downloads newer versions of itself. */
export function hasGo(): boolean {
  const go = findGo();
  if (go === undefined) return false;
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(execFileSync(go, ['version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > minGo[0] || Number(minor) >= minGo[1];
}

/** Returns the tools. Fetches them on first use, which takes minutes, because Helm is compiled. */
export async function manifestTools(): Promise<ManifestTools> {
  const python = await venvOf('manifests');
  const bin = await cached(`helm-${helmVersion}`, async (folder) => {
    await runTool('env', [`GOBIN=${folder}`, findGo()!, 'install', `helm.sh/helm/v3/cmd/helm@${helmVersion}`]);
  });
  return { python: join(python, 'bin/python3'), helm: join(bin, 'helm') };
}
