import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(resolve(root, file), 'utf8');

/** Uppercase literals that aren't Sluice error codes: vendors' names, Node's codes and examples. */
const others = new Set(
  `
    ABORT_ERR ACCESS_DENIED ACCESS_PROHIBITED AREA_WHAT AUTH_SWITCH_PLUGIN_ERROR CATALOG_NAME CLIENT_SECRET
    CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION CUBE_NAME CUBE_TYPE CUSTOMER_NOT_ENABLED DB_SSH DB_SSH_LOST DEVELOPER_TOKEN_NOT_APPROVED
    DISCOVER_DATASOURCES EAI_AGAIN FORMATTED_STRING FORMATTED_VALUE GREATER_THAN INFORMATION_SCHEMA INTERNAL_SERVER_ERROR INVALID_FIELD
    INVALID_QUERY_LOCATOR INVALID_TYPE ISO8601_STRING KEYPAIR_JWT MALFORMED_QUERY MAX_COST_EXCEEDED MDSCHEMA_CUBES MDSCHEMA_MEASURES MEASURE_CAPTION
    MEASURE_NAME MEASURE_UNIQUE_NAME MISSING_SCOPES MODULE_NOT_FOUND
    MYSQL_CLEAR_PASSWORD_NOT_ENABLED NOT_FOUND OPERATION_IN_PROGRESS PERMISSION_DENIED PROGRAMMATIC_ACCESS_TOKEN
    QUERY_TIMEOUT REQUEST_LIMIT_EXCEEDED RESOURCE_EXHAUSTED S3_SECRET SLACK_WEBHOOK SQL_ASCII UNABLE_TO_LOCK_ROW UNFORMATTED_VALUE UPDATED_AT
    USER_PERMISSION_DENIED VENDOR_PASSWORD
  `
    .split(/\s+/)
    .filter((name) => name !== ''),
);

const isForeign = (name: string): boolean => /^(ERR|UND_ERR|SQLITE|OTEL|SLUICE|NODE)_/.test(name) || others.has(name);

/** The caller completes some codes: `FTP` and `HOST_KEY_CHANGED` become `FTP_HOST_KEY_CHANGED`. */
const heads = ['FTP', 'REST', 'SERVICE', 'CONFIG_UNKNOWN'];

/** All sources except the table of SQLite's result codes. */
const sources = globSync('{src,connectors}/**/*.ts', { cwd: root })
  .filter((file) => file !== 'src/lib/sqlite-error.ts')
  .map(textOf)
  .join('\n');

const codes = new Set(
  [...sources.matchAll(/['`](?:\$\{\w+\}_)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['`]/g)]
    .map(([, code = '']) => code)
    .filter((code) => !isForeign(code)),
);

const rows = [...textOf('docs/errors.md').matchAll(/^\| `([A-Z0-9_]+)` \| (.+) \| (.+) \|$/gm)];
const listed = new Set(rows.map(([, code = '']) => code));

it('docs/errors.md lists every error code in the sources', () => {
  const isListed = (code: string) => listed.has(code) || heads.some((head) => listed.has(`${head}_${code}`));
  expect(codes.size).toBeGreaterThan(300);
  expect([...codes].filter((code) => !isListed(code))).toEqual([]);
});

it('docs/errors.md lists only known error codes, each of them once', () => {
  const isInSources = (code: string) =>
    ['', ...heads.map((head) => `${head}_`)].some(
      (head) =>
        code.startsWith(head) &&
        [`'${code.slice(head.length)}'`, `}_${code.slice(head.length)}\``].some((text) => sources.includes(text)),
    );
  expect([...listed].filter((code) => !isInSources(code))).toEqual([]);
  expect(rows.length).toBe(listed.size);
});
