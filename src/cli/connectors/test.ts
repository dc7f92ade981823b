import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadPlugin, openSdkDoor } from '../../config/catalog/load-plugin.ts';
import { placeOfError } from '../../config/catalog/plugin-place.ts';
import { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { World } from '../../sdk/testing/world.ts';
import { exit } from '../exit.ts';
import { paint } from '../output/paint.ts';

/**
 * Runs the standard tests on a connector file that has one or more test worlds next to it: `acme.mts`,
 * `acme.world.mts`.
 */
export async function testConnector(given: string): Promise<void> {
  openSdkDoor();
  const { connectorKit } = await import('../../sdk/testing/kit.ts');
  const file = resolve(given);
  const id = idOf(file);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw noFile(file);
  const connector = await opened(file, () => loadPlugin({ id, file, origin: dirname(file) }));
  let failed = 0;
  for (const world of await worldsOf(connector, file)) {
    const kit = connectorKit(connector, world, { file });
    if (world?.name !== undefined) process.stdout.write(`${world.name}\n`);
    try {
      for (const { name, run } of kit.checks) failed += await look(name, run);
    } finally {
      await kit.close();
    }
  }
  process.stdout.write(
    `\n${failed === 0 ? `${id} passes all checks` : `${id} fails ${failed} ${failed === 1 ? 'check' : 'checks'}`}\n`,
  );
  if (failed > 0) process.exitCode = exit.failed;
}

function noFile(file: string): Problem {
  return new Problem({
    code: 'CONNECTOR_FILE',
    family: 'config',
    message: `No such file: ${file}`,
    allowed: 'the file of a connector, such as ./my-connectors/acme.mts',
    next: 'check the path, or create a connector: sluice connectors scaffold NAME',
  });
}

function idOf(file: string): string {
  const name = basename(file, extname(file));
  return name === 'index' ? basename(dirname(file)) : name;
}

async function worldsOf(connector: Connector, file: string): Promise<readonly (World | undefined)[]> {
  if (connector.retired !== undefined) return [undefined];
  const world = join(dirname(file), `${connector.id}.world${extname(file)}`);
  if (!existsSync(world)) {
    throw new Problem({
      code: 'CONNECTOR_WORLD',
      family: 'config',
      message: `The "${connector.id}" connector has no test world`,
      allowed: world,
      next: 'write one as described in docs/connectors.md',
    });
  }
  const { default: worlds } = await opened(
    world,
    () => import(pathToFileURL(world).href) as Promise<{ default: World | readonly World[] }>,
  );
  return [worlds].flat();
}

async function opened<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw new Problem({
      code: 'CONNECTOR_BROKEN',
      family: 'config',
      message: `${file} cannot be used`,
      where: await placeOfError(file, error),
      seen: error instanceof Error ? error.message : String(error),
      cause: error,
    });
  }
}

/** The exit code: 1 if the check fails, otherwise 0. */
async function look(name: string, run: () => Promise<void>): Promise<number> {
  try {
    await run();
    process.stdout.write(`  ${paint('ok  ', 'good', process.stdout)}  ${name}\n`);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stdout.write(
      `  ${paint('FAIL', 'bad', process.stdout)}  ${name}\n${redact(message).replace(/^/gm, '          ')}\n`,
    );
    return 1;
  }
}
