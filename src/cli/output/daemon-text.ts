import { differenceText } from '../../daemon/report/report-processes.ts';
import type { Status } from '../../daemon/report/report-status.ts';
import { countOf, countText, durationText, instantText } from './format.ts';
import { printable, renderTable } from './table.ts';

/** Describes the daemon of a state and its config in a sentence or two. */
export function daemonText(daemon: Status['daemon']): string {
  if (daemon === undefined) return 'No daemon is running for this state.';
  const running = `The daemon (${daemon.owner}) has been running since ${instantText(daemon.since)}`;
  const stopped =
    daemon.stopped === undefined
      ? ''
      : `, but its scheduler has stopped: ${printable(daemon.stopped)}. Restart the daemon`;
  return `${running}${stopped}.${configText(daemon.config)}`;
}

/** The processes that share a state on a server, and their queue, followed by an empty line; nothing for a state in a folder. */
export function processLines({ processes, queue }: Pick<Status, 'processes' | 'queue'>, now: number): string[] {
  if (processes === undefined || queue === undefined) return [];
  const columns = [
    { title: 'host' },
    { title: 'process', align: 'right' as const },
    { title: 'role' },
    { title: 'version' },
    { title: 'running since' },
    { title: 'runs', align: 'right' as const },
    { title: 'config', tone: (text: string) => (text === 'same' ? undefined : ('waiting' as const)) },
  ];
  const rows = processes.map(({ host, pid, role, version, since, runs, config_differs }) => {
    const config = config_differs ? "differs from the planner's" : 'same';
    return [host, String(pid), role, version, instantText(since), countText(runs), config];
  });
  const { waiting, running, waiting_since: since } = queue;
  const oldest = since === undefined ? '' : `, the oldest for ${durationText(Math.max(0, now - since))}`;
  const line = `Queue: ${countOf(waiting, 'run')} waiting${oldest}; ${countText(running)} in progress.`;
  const fix = differenceText(processes);
  return [renderTable(columns, rows, { paper: process.stdout }), line, ...(fix === undefined ? [] : [fix]), ''];
}

function configText(config: NonNullable<Status['daemon']>['config']): string {
  if (config === undefined) return '';
  const { at, differs, refused } = config;
  if (refused !== undefined) return ` It uses the config that it loaded at ${instantText(at)}.`;
  return differs
    ? ` It uses the config that it loaded at ${instantText(at)}; the file has been edited since: run "sluice check", then "sluice reload".`
    : '';
}
