import type { Status } from '../daemon/report/report-status.ts';
import { instantText } from './format.ts';
import { printable } from './table.ts';

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

function configText(config: NonNullable<Status['daemon']>['config']): string {
  if (config === undefined) return '';
  const { at, differs, refused } = config;
  if (refused !== undefined) return ` It uses the config that it loaded at ${instantText(at)}.`;
  return differs
    ? ` It uses the config that it loaded at ${instantText(at)}; the file has been edited since: run "sluice check", then "sluice reload".`
    : '';
}
