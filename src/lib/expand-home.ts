import { homedir } from 'node:os';

/** Replaces a leading `~/` with the user's home folder, as shells do. */
export function expandHome(path: string): string {
  return path.replace(/^~(?=\/)/, homedir());
}
