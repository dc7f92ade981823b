import { SqliteDatabase } from '../../lib/sqlite.ts';
import { type Finding, good } from './finding.ts';

/** Versions of Sluice, Node and SQLite. An outdated Node doesn't get here: `src/cli/sluice.js` refuses it. */
export function examineVersions(sluice: string): Finding {
  const database = new SqliteDatabase(':memory:');
  const sqlite = String(database.prepare('select sqlite_version()').value());
  database.close();
  return good('versions', `Sluice ${sluice}, Node ${process.versions.node}, SQLite ${sqlite}`);
}
