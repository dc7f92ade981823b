import { SqliteDatabase } from '../../lib/sqlite.ts';
import { bad, type Finding, good } from './finding.ts';

const oldestNode = 26;

/** What runs here. */
export function examineVersions(sluice: string): Finding {
  const database = new SqliteDatabase(':memory:');
  const sqlite = String(database.prepare('select sqlite_version()').value());
  database.close();
  return judgeVersions({ sluice, node: process.versions.node, sqlite });
}

export function judgeVersions({ sluice, node, sqlite }: { sluice: string; node: string; sqlite: string }): Finding {
  const says = `Sluice ${sluice}, Node ${node}, SQLite ${sqlite}`;
  if (Number.parseInt(node, 10) >= oldestNode) return good('versions', says);
  return bad('versions', `${says}; Sluice wants Node ${oldestNode} or newer`, `install Node ${oldestNode}`);
}
