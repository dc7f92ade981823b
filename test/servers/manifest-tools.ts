import { join } from 'node:path';
import { goProgram, hasGo } from './go.ts';
import { hasVenv, venvOf } from './python-venv.ts';

const helmVersion = 'v3.22.0';

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

/** Returns the tools. Fetches them on first use, which takes minutes, because Helm is compiled. */
export async function manifestTools(): Promise<ManifestTools> {
  const python = await venvOf('manifests');
  const helm = await goProgram('helm', 'helm.sh/helm/v3/cmd/helm', helmVersion);
  return { python: join(python, 'bin/python3'), helm };
}
