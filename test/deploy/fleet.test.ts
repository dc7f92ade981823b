import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { openStore } from '../../src/state/store.ts';
import { makeFolder } from '../journey/process.ts';
import { describeWithServer } from '../servers/describe.ts';
import { readDockerfile, stagesOf } from './dockerfile.ts';

const deploy = resolve(import.meta.dirname, '../../deploy');
const read = (name: string): Promise<string> => readFile(join(deploy, name), 'utf8');

const [composeText, singleText] = await Promise.all([read('compose.fleet.yaml'), read('compose.yaml')]);
interface Compose {
  readonly services: Record<string, Record<string, unknown>>;
  readonly secrets: Record<string, { file: string }>;
}
const compose = parse(composeText) as Compose;
const single = parse(singleText) as Compose;

describe('deploy/compose.fleet.yaml', () => {
  it('protects the containers as deploy/compose.yaml does', () => {
    const { volumes, secrets, command, ports, ...rest } = single.services.sluice!;
    expect(compose.services.sluice).toMatchObject(rest);
    expect(compose.services.sluice).not.toHaveProperty('privileged');
  });

  it('starts three containers once the database accepts connections', () => {
    expect(compose.services.sluice).toMatchObject({
      deploy: { replicas: 3 },
      depends_on: { postgres: { condition: 'service_healthy' } },
      ports: ['127.0.0.1:9464-9466:9464'],
    });
  });

  it('provides secrets as files at the paths given in its header comment', () => {
    expect(Object.keys(compose.secrets)).toEqual(compose.services.sluice!.secrets);
    for (const name of Object.keys(compose.secrets)) expect(composeText).toContain(`\${file:/run/secrets/${name}}`);
    expect(compose.services.postgres).toMatchObject({ secrets: ['database_password'] });
  });
});

describe('deploy/kubernetes', async () => {
  const [deployment, config, secret, disruption] = await Promise.all(
    ['deployment', 'config', 'secret', 'disruption'].map((name) => read(`kubernetes/${name}.yaml`)),
  );
  const { spec } = (parse(deployment!) as { spec: { template: { spec: Record<string, unknown> } } }).spec.template;
  const [container] = spec.containers as Record<string, unknown>[];

  it('mounts the secrets that the config reads, and nothing that must survive a pod', () => {
    const names = Object.keys((parse(secret!) as { stringData: object }).stringData);
    const used = [...config!.matchAll(/\$\{file:\/run\/secrets\/sluice\/(\w+)\}/g)].map(([, name]) => name);
    expect(used.sort()).toEqual(names.sort());
    expect(spec.volumes).toEqual([
      { name: 'config', configMap: { name: 'sluice' } },
      { name: 'secrets', secret: { secretName: 'sluice', defaultMode: 0o440 } },
      { name: 'cache', emptyDir: { sizeLimit: '10Gi' } },
      { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
    ]);
  });

  it('runs pods without privileges and without rights in the cluster', () => {
    expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
  });

  it('allows more than ten seconds for a shutdown, and keeps one pod while nodes are drained', () => {
    expect(Number(spec.terminationGracePeriodSeconds)).toBeGreaterThan(10);
    expect(parse(disruption!)).toMatchObject({ spec: { minAvailable: 1 } });
  });

  it("has the image's folders and user", async () => {
    const last = stagesOf(await readDockerfile()).at(-1);
    const text = last?.steps.map((one) => one.getArgumentsContent() ?? '').join('\n') ?? '';
    expect(text).toContain('SLUICE_CONFIG=/config/sluice.yaml');
    expect(text).toContain('1000:1000');
    expect(container).toMatchObject({
      volumeMounts: expect.arrayContaining([expect.objectContaining({ name: 'config', mountPath: '/config' })]),
    });
  });

  it('is what the chart has a template for, except for the secret and the example for KEDA', async () => {
    const templates = await readdir(join(deploy, 'helm/templates'));
    const files = (await readdir(join(deploy, 'kubernetes'))).filter((name) => !/^(secret|keda)/.test(name));
    expect(files.sort()).toEqual(templates.sort());
  });
});

describeWithServer({ servers: 'PostgreSQL' }, 'the example for KEDA', (server) => {
  it("scales the deployment by a query that the state's database answers", async () => {
    const text = await read('kubernetes/keda.yaml');
    const [scaled, authentication] = parseAllDocuments(text).map((one) => one.toJS());
    expect(scaled).toMatchObject({ spec: { scaleTargetRef: { name: 'sluice' }, triggers: [{ type: 'postgresql' }] } });
    expect(authentication.spec.secretTargetRef).toMatchObject([{ name: 'sluice', key: 'database_password' }]);
    const { host, port, user, password, database } = server();
    const login = { host, port, user, password, database };
    const store = await openStore(await makeFolder(), { database: { ...login, schema: 'sluice' } });
    const client = new pg.Client(login);
    try {
      await client.connect();
      const { rows } = await client.query(scaled.spec.triggers[0].metadata.query);
      expect(rows).toEqual([{ count: '0' }]);
    } finally {
      await client.end();
      await store.close();
    }
  });
});
