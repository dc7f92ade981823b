import { createHash } from 'node:crypto';
import type { IncludedPackage, LockedPackage } from './packages.ts';

export interface SbomOptions {
  readonly version: string;
  readonly included: readonly IncludedPackage[];
  /** The packages in the lockfile, by folder. */
  readonly lock: Readonly<Record<string, LockedPackage>>;
  readonly epochSeconds: number;
}

/** A software bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). */
export function sbomOf({ version, included, lock, epochSeconds }: SbomOptions): string {
  const unique = new Map(included.map((one) => [purlOf(one), one]));
  const components = [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => componentOf(one, lock));
  const own = purlOf({ name: 'sluice', version });
  const content = {
    version: 1,
    metadata: {
      timestamp: new Date(epochSeconds * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': own,
        name: 'sluice',
        version,
        ...licensesOf('Apache-2.0'),
        purl: own,
      },
    },
    components,
  };
  return `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(content), ...content }, undefined, 2)}\n`;
}

function componentOf({ name, version, license }: IncludedPackage, lock: SbomOptions['lock']): object {
  const [path, locked] =
    Object.entries(lock).find(([folder, one]) => folder.endsWith(`node_modules/${name}`) && one.version === version) ??
    [];
  if (path === undefined) throw new Error(`${name} ${version} is in the package, but not in package-lock.json`);
  const [group, last] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const purl = purlOf({ name, version });
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name: last,
    version,
    ...hashesOf(locked?.integrity),
    ...licensesOf(license ?? locked?.license),
    purl,
  };
}

/** A package URL (https://github.com/package-url/purl-spec). */
const purlOf = ({ name, version }: IncludedPackage): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function licensesOf(license: string | undefined): object {
  if (license === undefined) return {};
  return { licenses: [license.includes(' ') ? { expression: license } : { license: { id: license } }] };
}

/** The hash that npm uses to verify a downloaded package. */
function hashesOf(integrity: string | undefined): object {
  const [, text] = /^sha512-(\S+)/.exec(integrity ?? '') ?? [];
  return text === undefined
    ? {}
    : { hashes: [{ alg: 'SHA-512', content: Buffer.from(text, 'base64').toString('hex') }] };
}

/** A UUID that is derived from the content (version 8 in RFC 9562). The same packages always have the same UUID. */
function serialOf(content: object): string {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}
