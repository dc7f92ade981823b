import { globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, it } from 'vitest';
import config from '../vitest.config.ts';

const textOf = (file: string): string => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

it('CONTRIBUTING.md lists exactly the npm scripts', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const listed = [...textOf('CONTRIBUTING.md').matchAll(/^\| `npm (?:run )?([\w:-]+)` \|/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual(Object.keys(scripts).toSorted());
});

it('`npm ci` verifies every package by its hash, Node included, and no package of an installation has an install script', () => {
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { integrity?: string; hasInstallScript?: boolean; dev?: boolean }>;
  };
  const listed = Object.entries(packages).filter(([path]) => path !== '');
  expect(listed.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))).toEqual([]);
  expect(listed.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)).toEqual([]);
  const { optionalDependencies } = JSON.parse(textOf('package.json')) as { optionalDependencies: object };
  for (const name of Object.keys(optionalDependencies)) expect(packages).toHaveProperty([`node_modules/${name}`]);
});

it('`npm test` runs no test of a folder that has a config of its own', () => {
  const configs = globSync('test/*/**/vitest.config.ts', { cwd: resolve(import.meta.dirname, '../..') });
  const folders = configs.map((file) => `${dirname(file)}/**`);
  expect(folders).toContain('test/clients/**');
  const excluded = config.test?.projects?.map((project) => (project as { test: { exclude: string[] } }).test.exclude);
  for (const one of excluded ?? []) expect(one).toEqual(expect.arrayContaining(folders));
  expect(excluded).toHaveLength(4);
});
