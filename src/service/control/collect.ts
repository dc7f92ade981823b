import { readdir } from 'node:fs/promises';
import { importOwn } from '../../lib/import-own.ts';
import type { ControlEndpoint } from './endpoint.ts';

const folder = new URL('./groups/', import.meta.url);

/** All endpoints of the control interface. The folder is the registry: every file in groups/ is a group. */
export async function collectControls(): Promise<ControlEndpoint[]> {
  const files = (await readdir(folder)).filter((file) => /^[a-z-]+\.[jt]s$/.test(file)).sort();
  const groups = await Promise.all(
    files.map(async (file) => (await importOwn<{ default: ControlEndpoint[] }>(new URL(file, folder))).default),
  );
  return groups.flat();
}
