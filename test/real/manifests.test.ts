import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { reportMissing } from '../servers/describe.ts';
import { type ManifestTools, manifestTools, missingForManifests } from '../servers/manifest-tools.ts';

const run = promisify(execFile);
const deploy = resolve(import.meta.dirname, '../../deploy');
const kubernetes = join(deploy, 'kubernetes');
/** The oldest and the newest version of Kubernetes whose schemas are there. */
const versions = ['1.31', '1.37'];
const missing = missingForManifests();

const title = 'the deployment files';
if (missing.length > 0) reportMissing(title, missing, 'python3-venv');
else
  describe(title, () => {
    let tools: ManifestTools;

    beforeAll(async () => {
      tools = await manifestTools();
    }, 600_000);

    /** The manifests in deploy/kubernetes that Kubernetes itself knows. The others are for additional controllers. */
    async function manifests(): Promise<string[]> {
      const names = (await readdir(kubernetes)).filter((name) => name !== 'keda.yaml');
      return names.map((name) => join(kubernetes, name)).sort();
    }

    const validate = (version: string, files: readonly string[]) =>
      run(tools.python, ['-m', 'kubernetes_validate', '--strict', '-k', version, ...files]);

    it.each(versions)('for Kubernetes match the schemas of Kubernetes %s', async (version) => {
      const files = await manifests();
      const { stdout } = await validate(version, files);
      expect(stdout.match(/^INFO .* passed/gm)).toHaveLength(files.length);
      await expect(validate(version, [join(deploy, 'compose.fleet.yaml')])).rejects.toThrow('Command failed');
    });

    it.each(['compose.yaml', 'compose.fleet.yaml'])(
      'for Compose include %s, which matches the schema',
      async (name) => {
        const check = ['-m', 'check_jsonschema', '--builtin-schema', 'vendor.compose-spec'];
        await run(tools.python, [...check, join(deploy, name)]);
        await expect(run(tools.python, [...check, join(kubernetes, 'deployment.yaml')])).rejects.toThrow(
          'Command failed',
        );
      },
    );
  });
