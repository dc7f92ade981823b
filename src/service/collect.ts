import { readdir } from 'node:fs/promises';
import { importOwn } from '../lib/import-own.ts';
import type { Resource } from './endpoint.ts';

const folder = new URL('./resources/', import.meta.url);

/** All resources of the service. The folder is the registry: every file in resources/ is a resource. */
export async function collectResources(): Promise<Resource[]> {
  const files = (await readdir(folder)).filter((file) => /^[a-z-]+\.[jt]s$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => (await importOwn<{ default: Resource }>(new URL(file, folder))).default),
  );
}
