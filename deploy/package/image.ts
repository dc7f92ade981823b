import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { architectures, checkout, nodePackage, readManifest } from './packages.ts';
import { type Modes, normalize, stageInstallation } from './stage.ts';
import { makeFolder, run } from './tools.ts';

const compress = promisify(gzip);

export interface ImageOptions {
  /** An existing folder to write the image to. */
  readonly into: string;
  readonly epochSeconds: number;
}

/**
 * Builds a container image without a container engine, and returns its file name. The image is an OCI image layout in a
 * tar file (https://github.com/opencontainers/image-spec/blob/main/image-layout.md). It contains Sluice, Node, and the
 * C libraries that Node needs, copied from this machine, but no shell. Its paths, user and variables are the same as in
 * the Dockerfile.
 */
export async function makeImage({ into, epochSeconds }: ImageOptions): Promise<string> {
  const { version } = await readManifest();
  const architecture = architectures[process.arch] ?? process.arch;
  await using folder = await makeFolder();
  const layout = join(folder.path, 'layout');
  await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
  const layers = [];
  for (const [name, { fill, owner, entries = ['.'] }] of Object.entries(layerContents)) {
    const root = join(folder.path, name);
    await mkdir(root);
    await normalize(root, epochSeconds, await fill(root));
    layers.push(await addLayer(layout, await tarOf(root, { epochSeconds, owner, entries })));
  }
  const created = new Date(epochSeconds * 1000).toISOString();
  const config = await addJson(layout, 'config.v1+json', {
    ...{ created, architecture, os: 'linux', config: imageConfig(version) },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  });
  const manifest = await addJson(layout, 'manifest.v1+json', {
    ...{ schemaVersion: 2, mediaType: mediaType('manifest.v1+json'), config },
    layers: layers.map(({ descriptor }) => descriptor),
  });
  const annotations = {
    'io.containerd.image.name': `docker.io/library/sluice:${version}`,
    'org.opencontainers.image.ref.name': `sluice:${version}`,
  };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  await writeFile(join(layout, 'index.json'), JSON.stringify(index));
  await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await normalize(layout, epochSeconds, {});
  const file = `sluice_${version}_${architecture}.oci.tar`;
  await cp(
    await tarOf(layout, { epochSeconds, owner: 0, entries: ['oci-layout', 'index.json', 'blobs'] }),
    join(into, file),
  );
  return file;
}

interface LayerContent {
  /** Writes the layer's files to a folder, and returns the files' modes. */
  readonly fill: (root: string) => Promise<Modes>;
  /** The numeric ID that both the user and the group have. */
  readonly owner: number;
  /** The entries of the folder to store in the layer. Default: all. */
  readonly entries?: readonly string[];
}

const writableFolders = ['app/cache', 'data', 'tmp'];

/** The image's layers. Those that rarely change come first. */
const layerContents: Readonly<Record<string, LayerContent>> = {
  node: { fill: addNode, owner: 0 },
  sluice: { fill: addSluice, owner: 0 },
  // Sluice writes only to these folders.
  writable: { fill: addWritableFolders, owner: 1000, entries: writableFolders },
};

async function addNode(root: string): Promise<Modes> {
  const node = join(checkout, 'node_modules', nodePackage, 'bin/node');
  const put = async (from: string, to: string): Promise<void> => {
    await mkdir(dirname(join(root, to)), { recursive: true });
    await cp(await realpath(from), join(root, to));
  };
  await put(node, 'usr/local/bin/node');
  // Matches lines such as "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)", and also the line for the loader, which
  // contains only its path.
  const libraries = [...(await run('ldd', [node])).matchAll(/(?<=\s)\/\S+/g)].map(([path]) => path);
  for (const path of libraries) await put(path, path);
  await mkdir(join(root, 'etc'));
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/:/\nsluice:x:1000:1000::/data:/\n');
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nsluice:x:1000:\n');
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  // The libraries include the loader, which the kernel executes.
  return { 'usr/local/bin/node': 0o755, ...Object.fromEntries(libraries.map((path) => [path.slice(1), 0o755])) };
}

async function addSluice(root: string): Promise<Modes> {
  await stageInstallation(join(root, 'app'));
  return { 'app/src/cli/sluice': 0o755 };
}

async function addWritableFolders(root: string): Promise<Modes> {
  for (const folder of writableFolders) await mkdir(join(root, folder), { recursive: true });
  return { tmp: 0o1777 };
}

/** The settings for the container engine, which are the same as in the Dockerfile. */
export const imageConfig = (version: string) => ({
  User: '1000:1000',
  ExposedPorts: { '9464/tcp': {} },
  Env: [
    'PATH=/usr/local/bin:/usr/bin:/bin',
    'NODE_ENV=production',
    'XDG_CACHE_HOME=/app/cache',
    'SLUICE_CONFIG=/config/sluice.yaml',
    'SLUICE_STATE=/data',
  ],
  Entrypoint: ['node', '/app/src/cli/sluice.js'],
  Cmd: ['run'],
  Volumes: { '/data': {} },
  WorkingDir: '/app',
  StopSignal: 'SIGTERM',
  Labels: { 'org.opencontainers.image.title': 'sluice', 'org.opencontainers.image.version': version },
});

interface TarOptions extends Pick<LayerContent, 'owner'> {
  readonly epochSeconds: number;
  readonly entries: readonly string[];
}

/** Packs a folder into a tar file next to the folder. The same content always produces the same bytes. */
async function tarOf(folder: string, { epochSeconds, owner, entries }: TarOptions): Promise<string> {
  const same = ['--format=gnu', '--sort=name', `--mtime=@${epochSeconds}`, '--numeric-owner'];
  await run('tar', [...same, `--owner=${owner}`, `--group=${owner}`, '-C', folder, '-cf', `${folder}.tar`, ...entries]);
  return `${folder}.tar`;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const mediaType = (kind: string): string => `application/vnd.oci.image.${kind}`;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function addLayer(layout: string, tar: string): Promise<{ descriptor: Descriptor; diffId: string }> {
  const bytes = await readFile(tar);
  const descriptor = await addBlob(layout, 'layer.v1.tar+gzip', await compress(bytes));
  return { descriptor, diffId: `sha256:${sha256(bytes)}` };
}

const addJson = (layout: string, kind: string, content: object): Promise<Descriptor> =>
  addBlob(layout, kind, Buffer.from(JSON.stringify(content)));

async function addBlob(layout: string, kind: string, bytes: Buffer): Promise<Descriptor> {
  const hash = sha256(bytes);
  await writeFile(join(layout, 'blobs/sha256', hash), bytes);
  return { mediaType: mediaType(kind), digest: `sha256:${hash}`, size: bytes.length };
}
