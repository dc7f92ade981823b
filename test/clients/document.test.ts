import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { reportMissing } from '../servers/describe.ts';
import { runTool } from '../servers/fetch.ts';
import { hasNpm, npmProject } from '../servers/npm-project.ts';
import { scratch } from '../service/service.ts';
import { documentFile } from './documents.ts';

if (!hasNpm()) reportMissing('linters for OpenAPI', ['npm'], 'npm');
else
  describe.each(['3.1', '3.0'] as const)('the OpenAPI %s document', (version) => {
    it('has no finding in Redocly with its strictest rules', async () => {
      const { file } = await documentFile(version);
      await runTool(await linter('redocly'), ['lint', '--extends=recommended-strict', file]);
    });

    it("has no finding in Spectral's rules for OpenAPI", async () => {
      const { file } = await documentFile(version);
      const rules = join(await scratch(), 'rules.json');
      await writeFile(rules, JSON.stringify({ extends: 'spectral:oas' }));
      await runTool(await linter('spectral'), ['lint', '--fail-severity=hint', '--ruleset', rules, file]);
    });
  });

async function linter(name: string): Promise<string> {
  return join(await npmProject('clients'), 'node_modules/.bin', name);
}
