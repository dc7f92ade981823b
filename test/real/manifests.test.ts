import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { reportMissing } from '../servers/describe.ts';
import { type ManifestTools, manifestTools, missingForManifests } from '../servers/manifest-tools.ts';

const run = promisify(execFile);
const deploy = resolve(import.meta.dirname, '../../deploy');
const kubernetes = join(deploy, 'kubernetes');
const chart = join(deploy, 'helm');
/** The oldest and the newest version of Kubernetes whose schemas are there. */
const versions = ['1.31', '1.37'];
const missing = missingForManifests();

const title = 'the deployment files';
if (missing.length > 0) reportMissing(title, missing, 'golang python3-venv');
else
  describe(title, () => {
    let tools: ManifestTools;

    beforeAll(async () => {
      tools = await manifestTools();
    }, 1_200_000);

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

    it('include a chart without faults, which makes the manifests for Kubernetes', async () => {
      const { stdout } = await run(tools.helm, ['lint', '--strict', chart]);
      expect(stdout).toContain('0 chart(s) failed');
      const made = await run(tools.helm, ['template', 'sluice', chart]);
      const wanted = (await manifests()).filter((file) => !file.endsWith('secret.yaml'));
      expect(documentsIn(made.stdout)).toEqual(
        documentsIn((await Promise.all(wanted.map((file) => readFile(file, 'utf8')))).join('\n---\n')),
      );
    });

    it('include a chart with values for the image, the replicas, the secret and the size of the cache', async () => {
      const values = 'image=registry.example/sluice:2,replicas=5,secret=mine,cacheSize=1Gi';
      const { stdout } = await run(tools.helm, ['template', 'other', chart, '--set', values]);
      for (const text of [
        'registry.example/sluice:2',
        'replicas: 5',
        'secretName: mine',
        'sizeLimit: 1Gi',
        'name: other',
      ])
        expect(stdout).toContain(text);
      expect(stdout).not.toContain('name: sluice\n  labels');
    });
  });

/** The documents of a YAML text, by kind. */
function documentsIn(text: string): unknown[] {
  const documents = parseAllDocuments(text).map((one) => one.toJS() as { kind: string } | null);
  return documents.filter((one) => one !== null).sort((a, b) => a.kind.localeCompare(b.kind));
}
