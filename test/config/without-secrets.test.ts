import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { makeFolder } from '../journey/process.ts';

const id = '0123456789abcdef0123456789abcdef';

/** Loads a config with these jobs and files as CI does, with no variables set. */
async function load(jobs: string, files: Record<string, string> = {}) {
  const folder = await makeFolder();
  const file = join(folder, 'sluice.yaml');
  const text = `version: 1
allow_commands: true
login_key: \${vault:secret/sluice#login_key}
destinations:
  main: { url: "\${env:SERVICE_URL}", api_key: "\${file:/run/secrets/absent}", requests_per_day: "\${env:PER_DAY}" }
  other: { url: "https://\${env:HOST}/api/1.0", basic: { user: a, password: "\${cmd:touch ran}" } }
sources:
  shop: { connector: db, driver: postgres, host: "\${env:DB}", port: "\${env:PORT}", database: shop, user: a, password: "\${aws-sm:shop}" }
jobs:
${jobs}`;
  for (const [name, content] of Object.entries({ 'sluice.yaml': text, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return { folder, ...(await loadConfig(file, { env: {}, withoutSecrets: true })) };
}

const job = (name: string, more: string) => `  ${name}: { source: shop, format: csv, destination: main, ${more} }\n`;

describe('a config that is loaded without secrets', () => {
  it('contains all its jobs even if no variable has a value', async () => {
    const { config, problems, warnings } = await load(
      job('a', `query: select 1, target: "\${env:A}", priority: "\${env:P}", schedule: every 1h`) +
        job('b', `query: select 1, target: "\${env:B}"`),
    );
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] });
    expect([...config!.jobs.keys()]).toEqual(['a', 'b']);
    expect(config!.destinations.get('main')).toMatchObject({
      requestsPerDay: 1000,
      url: expect.stringMatching(/^https:/),
    });
  });

  it("doesn't run commands, but reads files that exist", async () => {
    const { config, folder, problems } = await load(job('a', `query: "\${file:q/a.sql}", target: ${id}`), {
      'q/a.sql': 'select 42\n',
    });
    expect(problems).toEqual([]);
    expect(config!.jobs.get('a')!.extract!.query).toMatchObject({ sql: 'select 42' });
    expect((await readdir(folder)).sort()).toEqual(['q', 'sluice.yaml']);
  });

  it("still reports all errors that don't depend on a value", async () => {
    const misspelled = job('a', `query: select 1, target: "\${env:A}", priorty: high`);
    const { problems } = await load(misspelled + job('b', `query: select 1, target: "\${evn:B}"`));
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_UNKNOWN_OPTION', 'CONFIG_VARIABLE']);
  });

  it('omits a job whose schedule is unknown, and warns about that and about a file missing from the repository', async () => {
    const { config, problems, warnings } = await load(
      job('a', `query: select 1, target: ${id}, schedule: "\${env:CRON}"`) +
        job('b', `query: "\${file:q/b.sql}", target: "\${env:B}"`),
    );
    expect(problems).toEqual([]);
    expect(warnings.map(({ code }) => code)).toEqual(['CONFIG_UNREAD', 'CONFIG_VARIABLE_FILE']);
    expect([...config!.jobs.keys()]).toEqual(['b']);
  });

  it('has one account for keys from the same variable, and separate accounts for keys from different variables', async () => {
    const { config } = await load(job('a', `query: select 1, target: ${id}`));
    const [main, other] = [...config!.destinations.values()];
    expect(main!.account).not.toBe(other!.account);
  });
});
