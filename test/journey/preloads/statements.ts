import { Socket } from 'node:net';

/** The last change of each connection's open transaction; empty if there's none yet. */
const changes = new WeakMap<Socket, string>();

/**
 * Calls `reach` with the name of each change of a PostgreSQL database that this process is about to commit, and with
 * `done` and this name as soon as the response has arrived. The database's connections are recognized by their port.
 * Such a change is a commit, or a statement outside of a transaction.
 */
export function aroundStatements(port: number, reach: (step: string) => void): void {
  const write = Socket.prototype.write as (this: Socket, ...given: unknown[]) => boolean;
  Socket.prototype.write = function (this: Socket, ...given: unknown[]) {
    const step = this.remotePort === port ? commitIn(this, textIn(given[0])) : undefined;
    if (step !== undefined) {
      reach(step);
      this.prependOnceListener('data', () => reach(`done ${step}`));
    }
    return write.apply(this, given);
  } as typeof Socket.prototype.write;
}

/** The SQL text in a message to the server, which is one of `Query` and `Parse`. The driver writes each on its own. */
function textIn(message: unknown): string {
  if (!(message instanceof Uint8Array)) return '';
  const kind = String.fromCharCode(message[0] ?? 0);
  if (kind !== 'Q' && kind !== 'P') return '';
  // After the length; in `Parse`, the text follows the statement's name.
  const [first = '', second = ''] = Buffer.from(message.subarray(5)).toString().split('\0', 2);
  return kind === 'Q' ? first : second;
}

function commitIn(socket: Socket, text: string): string | undefined {
  const open = changes.get(socket);
  if (text.startsWith('begin;')) changes.set(socket, '');
  if (text === 'commit' || text === 'rollback') changes.delete(socket);
  if (text === 'commit') return open === undefined || open === '' ? undefined : `commit ${open}`;
  const change = /^(insert into|delete from|update) (\S+)( set \w+)?/.exec(text.replaceAll('"', ''));
  if (change === null) return undefined;
  const [, verb, table = '', rest = ''] = change;
  // The schema differs from test to test.
  const name = `${verb} ${table.replace(/^.*\./, '')}${rest}`;
  if (open === undefined) return `commit ${name}`;
  changes.set(socket, name);
  return undefined;
}
