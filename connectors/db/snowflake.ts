import { batchText, withDefaults } from '#sdk';
import { extractOver } from './api-extract.ts';
import type { Driver } from './driver.ts';
import { query } from './options.ts';
import { snowflakeApi } from './snowflake-api.ts';
import { snowflakeCatalogue, snowflakeDialect } from './snowflake-dialect.ts';
import { SnowflakeQuery } from './snowflake-query.ts';

/** Driver for Snowflake, over its SQL API. https://docs.snowflake.com/en/developer-guide/sql-api/index */
export const snowflake: Driver = {
  dialect: snowflakeDialect,
  catalogue: snowflakeCatalogue,
  async check(options) {
    const sql = 'select current_version(), current_user(), current_role(), current_database()';
    const { batches } = await snowflake.extract(options, { ...withDefaults(query, {}), sql });
    let row: readonly (string | null)[] = [];
    for await (const batch of batches) row = batchText(batch)[0] ?? [];
    const [version, user, role, database] = row;
    return `Snowflake ${version} as ${user} with the role ${role} on ${database}`;
  },
  extract: (options, query) =>
    extractOver(options, snowflakeApi, (api) => new SnowflakeQuery(api, options, query).read()),
};
