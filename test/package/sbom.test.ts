import { describe, expect, it } from 'vitest';
import { type SbomOptions, sbomOf } from '../../deploy/package/sbom.ts';

const options: SbomOptions = {
  version: '1.2.3',
  included: [
    { name: 'pino', version: '10.0.0' },
    { name: '@acme/codec', version: '2.0.0', license: '(MIT OR Apache-2.0)' },
    { name: 'pino', version: '10.0.0' },
  ],
  lock: {
    'node_modules/pino': { version: '9.0.0', license: 'MIT' },
    'node_modules/x/node_modules/pino': { version: '10.0.0', license: 'MIT', integrity: `sha512-${btoa('abc')}` },
    'node_modules/@acme/codec': { version: '2.0.0' },
  },
  epochSeconds: 0,
};

describe('the software bill of materials', () => {
  it('lists each package once, with its package URL, license and hash', () => {
    expect(JSON.parse(sbomOf(options))).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { timestamp: '1970-01-01T00:00:00.000Z', component: { name: 'sluice', version: '1.2.3' } },
      components: [
        {
          ...{ group: '@acme', name: 'codec', version: '2.0.0', purl: 'pkg:npm/%40acme/codec@2.0.0' },
          licenses: [{ expression: '(MIT OR Apache-2.0)' }],
        },
        {
          ...{ name: 'pino', version: '10.0.0', purl: 'pkg:npm/pino@10.0.0', licenses: [{ license: { id: 'MIT' } }] },
          hashes: [{ alg: 'SHA-512', content: '616263' }],
        },
      ],
    });
  });

  it('has a serial number that depends only on its content', () => {
    const serial = (more: Partial<SbomOptions>): string => JSON.parse(sbomOf({ ...options, ...more })).serialNumber;
    expect(serial({})).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(serial({})).toBe(serial({}));
    expect(serial({ version: '1.2.4' })).not.toBe(serial({}));
  });

  it("rejects a package that isn't in the lock file", () => {
    const included = [{ name: 'pino', version: '11.0.0' }];
    expect(() => sbomOf({ ...options, included })).toThrow(
      'pino 11.0.0 is in the package, but not in package-lock.json',
    );
  });
});
