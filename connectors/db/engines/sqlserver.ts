import type { DatabaseEngine } from '../database-engine.ts';

export const sqlserver: DatabaseEngine = {
  title: 'SQL Server',
  hasOneHost: true,
  schemes: ['sqlserver'],
  port: 1433,
  parameters: {},
  exampleTable: 'shop.dbo.orders',
};
