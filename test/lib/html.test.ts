import { afterEach, expect, it } from 'vitest';
import { html } from '../../src/lib/html.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';

afterEach(forgetSecrets);

it('a template escapes every value except markup, and joins lists', () => {
  const inner = html`<i>${'a&b'}</i>`;
  expect(html`<p title="${`"'`}">${[inner, '<', 5, undefined]}</p>`.text).toBe(
    '<p title="&quot;&#39;"><i>a&amp;b</i>&lt;5</p>',
  );
});

it("a template redacts a secret before escaping it, because the escaped secret wouldn't be found", () => {
  registerSecret('p<ss&word');
  expect(html`<p>${'is p<ss&word'}</p>`.text).toBe('<p>is [redacted]</p>');
});
