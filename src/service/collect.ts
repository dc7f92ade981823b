import { readdir } from 'node:fs/promises';
import { importOwn } from '../lib/import-own.ts';
import type { ControlEndpoint } from './control/endpoint.ts';
import type { Resource } from './endpoint.ts';

/** All of the service's resources. The folder is the registry: every file in resources/ is a resource. */
export function collectResources(): Promise<Resource[]> {
  return importAll<Resource>('./resources/');
}

/**
 * All of the control interface's endpoints. The folder is the registry: every file in groups/ is a group of endpoints.
 */
export async function collectControls(): Promise<ControlEndpoint[]> {
  return (await importAll<ControlEndpoint[]>('./control/groups/')).flat();
}

async function importAll<T>(path: string): Promise<T[]> {
  const folder = new URL(path, import.meta.url);
  const files = (await readdir(folder)).filter((file) => /^[a-z-]+\.[jt]s$/.test(file)).sort();
  return Promise.all(files.map(async (file) => (await importOwn<{ default: T }>(new URL(file, folder))).default));
}
