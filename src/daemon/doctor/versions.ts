import SQLite from 'better-sqlite3';
import { bad, type Finding, good } from './finding.ts';

const oldestNode = 26;

/** What runs here. */
export function examineVersions(sluice: string): Finding {
  const database = new SQLite(':memory:');
  const sqlite = String(database.prepare('select sqlite_version()').pluck().get());
  database.close();
  return judgeVersions({ sluice, node: process.versions.node, sqlite });
}

export function judgeVersions({ sluice, node, sqlite }: { sluice: string; node: string; sqlite: string }): Finding {
  const says = `Sluice ${sluice}, Node ${node}, SQLite ${sqlite}`;
  if (Number.parseInt(node, 10) >= oldestNode) return good('versions', says);
  return bad('versions', `${says}; Sluice wants Node ${oldestNode} or newer`, `install Node ${oldestNode}`);
}
