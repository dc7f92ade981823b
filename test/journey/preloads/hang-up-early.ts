/** Sends SIGHUP to this process as soon as it has installed its signal handlers: long before it has started. */
process.once('newListener', function early(name: string | symbol): void {
  if (name === 'SIGINT') setImmediate(() => process.kill(process.pid, 'SIGHUP'));
  else process.once('newListener', early);
});
