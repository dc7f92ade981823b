import { readdir } from 'node:fs/promises';
import type { ControlEndpoint } from './endpoint.ts';

const folder = new URL('./groups/', import.meta.url);

/** Every endpoint of the control interface. The folder is the registry: every file in groups/ is a group. */
export async function collectControls(): Promise<ControlEndpoint[]> {
  const files = (await readdir(folder)).filter((file) => /^[a-z-]+\.[jt]s$/.test(file)).sort();
  const groups = await Promise.all(
    files.map(async (file) => ((await import(new URL(file, folder).href)) as { default: ControlEndpoint[] }).default),
  );
  return groups.flat();
}
