import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

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
