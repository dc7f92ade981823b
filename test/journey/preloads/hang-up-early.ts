/** Sends SIGHUP to this very process as soon as it has begun to listen for its end: long before it has started. */
process.once('newListener', function early(name: string | symbol): void {
  if (name === 'SIGINT') setImmediate(() => process.kill(process.pid, 'SIGHUP'));
  else process.once('newListener', early);
});
