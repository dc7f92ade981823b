import { spawn } from 'node:child_process';

/** The program that opens URLs on this platform; undefined without a display. */
function opener(): string | undefined {
  if (process.platform === 'darwin') return 'open';
  const { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION, BROWSER } = process.env;
  if (BROWSER !== undefined && BROWSER !== '') return BROWSER;
  const isDesk = DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
  return isDesk && SSH_CONNECTION === undefined ? 'xdg-open' : undefined;
}

/**
 * Opens a URL in the person's browser, if there is one. Resolves to whether a program was started, without waiting for
 * it to end.
 */
export function openBrowser(url: string): Promise<boolean> {
  const program = opener();
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [url], { stdio: 'ignore', detached: true });
    child.once('spawn', () => resolve(true)).once('error', () => resolve(false));
    child.unref();
  });
}
