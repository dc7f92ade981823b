/** Sends SIGHUP to this process as soon as it has installed its signal handlers, which is long before it's ready. */
process.once('newListener', function early(name: string | symbol): void {
  if (name === 'SIGINT') setImmediate(() => process.kill(process.pid, 'SIGHUP'));
  else process.once('newListener', early);
});
