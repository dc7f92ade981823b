import type { DatabaseEngine } from '../database-engine.ts';

export const duckdb: DatabaseEngine = {
  title: 'DuckDB',
  schemes: [],
  port: 0,
  isFile: true,
  parameters: {},
  // Only these settings can't change values or give access to other files.
  reservedSettings: /^(?!(memory_limit|max_memory|threads|worker_threads|search_path|schema)$)/i,
  exampleTable: 'main.orders',
};
