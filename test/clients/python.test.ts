import { basename, join } from 'node:path';
import { describe, it } from 'vitest';
import { reportMissing } from '../servers/describe.ts';
import { runTool } from '../servers/fetch.ts';
import { hasVenv, venvOf } from '../servers/python-venv.ts';
import { documentFile, generatedClient } from './documents.ts';
import { runScenario } from './scenario.ts';

const program = join(import.meta.dirname, 'programs/openapi_python_client.py');
const config = join(import.meta.dirname, 'programs/mypy.ini');

if (!hasVenv()) reportMissing('Python clients', ['Python with venv'], 'python3-venv');
else
  describe('a Python client', () => {
    it('from openapi-python-client passes strict type checks and runs the scenario', async () => {
      const venv = await venvOf('clients');
      const bin = join(venv, 'bin');
      const python = join(bin, 'python3');
      const document = await documentFile('3.1');
      const args = ['--meta', 'none', '--output-path'];
      const folder = await generatedClient(
        {
          name: 'openapi-python-client',
          // The name of the environment's folder contains the hash of the versions.
          recipe: [basename(venv), ...args],
          make: (made) => {
            // The generator formats the client with a program next to it.
            const generator = [`PATH=${bin}:${process.env.PATH}`, python, '-m', 'openapi_python_client'];
            const output = [...args, join(made, 'dashboard_service_client')];
            return runTool('env', [...generator, 'generate', '--path', document.file, ...output]);
          },
        },
        document,
      );
      const mypy = ['-m', 'mypy', '--config-file', config, '--cache-dir', join(folder, '.mypy'), program];
      await runTool('env', [`MYPYPATH=${folder}`, python, ...mypy]);
      await runScenario({ command: 'env', args: [`PYTHONPATH=${folder}`, python, program] });
    });
  });
