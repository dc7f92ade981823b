import { describe, expect, it } from 'vitest';
import { findLogin } from '../../src/cli/login/find-login.ts';
import { chooseSource } from '../../src/cli/payloads/choose-source.ts';
import type { Config, Source } from '../../src/config/config.ts';

const sourceOf = (name: string, login?: string) =>
  ({ name, ...(login === undefined ? {} : { login: { name: login } }) }) as unknown as Source;
const sources = new Map([sourceOf('shop'), sourceOf('customers', 'acme')].map((source) => [source.name, source]));
const config: Pick<Config, 'sources' | 'file'> = { file: '/etc/sluice.yaml', sources };

describe('a source named on the command line', () => {
  it("is found by its name, and a source with a login also by the login's name", () => {
    expect(chooseSource(config, 'shop')).toBe(sources.get('shop'));
    expect(findLogin(config, 'customers')).toBe(sources.get('customers'));
    expect(findLogin(config, 'acme')).toBe(sources.get('customers'));
  });

  it.each([
    ['a source', chooseSource, 'shpo', 'shop, customers', 'did you mean "shop"?'],
    ['a login', findLogin, 'custmers', 'customers', 'did you mean "customers"?'],
  ])("is rejected, with a list of available names, if it isn't in the config: %s", (_, find, name, allowed, next) => {
    expect(() => find(config, name)).toThrow(
      expect.objectContaining({ code: 'CLI_UNKNOWN_SOURCE', seen: name, allowed, next, where: { file: config.file } }),
    );
  });

  it('is reported as a source without a login, not as unknown, if it has none', () => {
    expect(() => findLogin(config, 'shop')).toThrow(
      expect.objectContaining({ code: 'CLI_NO_LOGIN', seen: 'shop', allowed: 'customers' }),
    );
  });
});
