import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDockerfile, stagesOf } from './dockerfile.ts';

const file = resolve(import.meta.dirname, '../../deploy/compose.yaml');
const text = await readFile(file, 'utf8');
const { services, volumes, secrets } = parse(text) as {
  services: { sluice: Record<string, unknown> };
  volumes: Record<string, unknown>;
  secrets: Record<string, { file: string }>;
};
const { sluice } = services;

describe('deploy/compose.yaml', () => {
  it('allows the container to write only its state, gain no privileges, and keep logs of limited size', () => {
    expect(sluice).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      logging: { options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } },
    });
    expect(sluice.volumes).toEqual(['./config:/config:ro', 'state:/data']);
    expect(volumes).toHaveProperty('state');
    expect(sluice).not.toHaveProperty('privileged');
    expect(sluice).not.toHaveProperty('user');
  });

  it('provides secrets as files at the paths given in its header comment', () => {
    expect(Object.keys(secrets)).toEqual(sluice.secrets);
    for (const [name, { file: from }] of Object.entries(secrets)) {
      expect(from).toMatch(/^\.\/secrets\//);
      expect(text).toContain(`\${file:/run/secrets/${name}}`);
    }
    expect(sluice).not.toHaveProperty('environment');
  });

  it("uses the image's health check and allows more than ten seconds for a shutdown", async () => {
    const last = stagesOf(await readDockerfile()).at(-1);
    const step = last?.steps.find((one) => one.getKeyword() === 'HEALTHCHECK')?.getArgumentsContent() ?? '';
    const words = JSON.parse(step.slice(step.indexOf('['))) as string[];
    expect(sluice.healthcheck).toMatchObject({ test: ['CMD', ...words] });
    expect(Number.parseInt(String(sluice.stop_grace_period), 10)).toBeGreaterThan(10);
  });

  it('publishes the metrics port only on the loopback interface', () => {
    expect(sluice.command).toEqual(['run', '--monitor', '0.0.0.0:9464']);
    expect(sluice.ports).toEqual(['127.0.0.1:9464:9464']);
  });
});
