import { Server } from 'node:net';

/** The second server of the process can't listen. */
const listen = Server.prototype.listen as (...given: unknown[]) => Server;
let servers = 0;
Server.prototype.listen = function (this: Server, ...given: unknown[]): Server {
  servers++;
  if (servers === 1) return listen.apply(this, given);
  process.nextTick(() => this.emit('error', Object.assign(new Error('no more ports'), { code: 'EADDRINUSE' })));
  return this;
} as typeof Server.prototype.listen;
