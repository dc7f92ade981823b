import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { reportMissing } from '../servers/describe.ts';
import { hasVenv, venvOf } from '../servers/python-venv.ts';
import { bench, keys, scratch } from '../service/service.ts';

const run = promisify(execFile);
/** Ends the program if it waits forever. It needs a minute on an idle core. */
const timeout = 280_000;

/** Differences between document and service that are meant to be, each with the reason. */
const allowed: readonly { readonly code: string; readonly text: RegExp; readonly reason: string }[] = [
  {
    code: 'ST202',
    text: /\bis given twice, with different values\b/,
    reason: 'client_id can be in the query or in the body, and no schema can compare the two',
  },
  {
    code: 'ST202',
    text: /\b(user|group or user) ID is missing after\b/i,
    reason: 'the operation exists only to respond with 400, as the public document demands, so it is deprecated',
  },
  {
    code: 'ST202',
    text: /"start_date\\" must not be after\b/,
    reason: 'no schema can compare two parameters',
  },
  {
    code: 'ST202',
    text: /"resources\.\d+\.value\\" must be 1 or more\b/,
    reason: 'the least value depends on the name of the resource',
  },
  {
    code: 'ST202',
    text: /\bis already used by another\b/,
    reason: 'names and e-mail addresses are unique, and the public document has no 409',
  },
  {
    code: 'ST202',
    text: /\bthat can't be stored exactly\b|half of a surrogate pair|member named \\"__proto__\\"/,
    reason: 'a schema for any value also allows the few values that the service could not return unchanged',
  },
  {
    code: 'ST202',
    text: /\bNot valid (CSV|JSON|XML)\b/,
    reason: "an upload must be valid in the source's format, and a schema for bytes allows all of them",
  },
  {
    code: 'ST202',
    text: /"status\\" cannot be\b/,
    reason: "the allowed changes depend on the client's status",
  },
  {
    code: 'ST201',
    text: /Invalid component: in body - [\w.-]+: Incorrect type[\s\S]*: null\b/,
    reason: 'null counts as absent in every body, which the description of the document says once for all',
  },
  {
    code: 'ST201',
    text: /Invalid component: in body - incorrect type[\s\S]* -d (null|'\[\]')/,
    reason: 'some clients send null or [] instead of an empty body to operations without required fields',
  },
];

const unescaped: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The failures in a JUnit report, one text for each. */
function failuresIn(report: string): string[] {
  const all = [...report.matchAll(/<failure[^>]*>([\s\S]*?)<\/failure>/g)].flatMap(([, text]) =>
    text!.split(/^(?=\d+\. Test Case ID: )/m),
  );
  return all.map((text) => text.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_all, name: string) => unescaped[name]!));
}

function isAllowed(failure: string): boolean {
  const codes = [...failure.matchAll(/^- (ST\d+) /gm)].map(([, code]) => code!);
  return codes.length > 0 && codes.every((code) => allowed.some((one) => one.code === code && one.text.test(failure)));
}

if (!hasVenv()) reportMissing('Schemathesis', ['Python with venv'], 'python3-venv');
else
  describe('Schemathesis', () => {
    it('finds no difference between the OpenAPI document and the service that is not allowed', async () => {
      const python = join(await venvOf('schemathesis'), 'bin/python3');
      const [given, folder] = [await bench(), await scratch()];
      const [summary, details] = [join(folder, 'run.json'), join(folder, 'junit.xml')];
      const bounds = ['--phases', 'coverage,fuzzing,stateful', '--max-examples', '5'];
      const steady = ['--seed', '1', '--generation-deterministic', '--continue-on-failure', '--no-color'];
      const reports = ['--report', 'json,junit', '--report-json-path', summary, '--report-junit-path', details];
      const args = ['-m', 'schemathesis.cli', 'run', `${given.origin}/openapi.json`, '--checks', 'all', ...bounds];
      // It exits with 1 if it has found differences, so the reports decide.
      await run(python, [...args, '--header', `kf-api-key: ${keys.acmeAdmin}`, ...steady, ...reports], {
        cwd: folder,
        timeout,
        maxBuffer: 64 * 1024 * 1024,
      }).catch((failure: { code?: unknown; stdout?: string; stderr?: string }) => {
        if (failure.code !== 1) throw new Error(`Schemathesis failed: ${failure.stdout}${failure.stderr}`);
      });
      const { operations, errors } = JSON.parse(await readFile(summary, 'utf8')) as {
        operations: { total: number; tested: number };
        errors: unknown[];
      };
      expect(errors).toEqual([]);
      expect(operations.tested).toBe(operations.total);
      const failures = failuresIn(await readFile(details, 'utf8'));
      expect(failures.filter((failure) => !isAllowed(failure))).toEqual([]);
    });
  });
