import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';

/** A folder, the pattern of its member files (each with a default export), and the generated list. */
interface Registry {
  readonly folder: string;
  readonly member: RegExp;
  readonly list: string;
}

const named = /^([a-z][a-z\d_]*)\.ts$/;

/**
 * Folders that are their own registry. Their lists are generated, so that the bundler and the type checker see the
 * members, and commands needn't read a folder at startup. Commands, connectors and resources are imported individually
 * by name.
 */
const registries: readonly Registry[] = [
  { folder: 'src/formats/all', member: named, list: 'src/formats/all.generated.ts' },
  { folder: 'src/transforms/all', member: named, list: 'src/transforms/all.generated.ts' },
  { folder: 'src/alerts/channels', member: named, list: 'src/alerts/channels.generated.ts' },
  { folder: 'src/secrets/all', member: /^([a-z][a-z\d-]*)\.ts$/, list: 'src/secrets/all.generated.ts' },
  { folder: 'src/state/migrations', member: /^(\d{3}-[a-z\d-]+)\.ts$/, list: 'src/state/migrations/all.generated.ts' },
];

/** Generates the lists of all registries below `root`: file names with their text. */
export async function listRegistries(root: string): Promise<Map<string, string>> {
  const lists = registries.map(async ({ folder, member, list }) => {
    const ids = (await readdir(join(root, folder))).flatMap((file) => member.exec(file)?.[1] ?? []).sort();
    return [list, listText(ids, posix.relative(posix.dirname(list), folder))] as const;
  });
  return new Map(await Promise.all(lists));
}

function listText(ids: readonly string[], folder: string): string {
  const from = folder === '' ? '.' : `./${folder}`;
  const imports = ids.map((id, i) => `import m${i} from '${from}/${id}.ts';`);
  const members = ids.map((id, i) => `  '${id}': m${i},`);
  return `/** Made by "npm run generate" out of the files of this folder; edits here are lost. */
${imports.join('\n')}

export const all = {
${members.join('\n')}
};
`;
}
