import { setFlagsFromString } from 'node:v8';

/**
 * Ends this process at once, from any of its threads and whatever the others do: by SIGKILL, so its exit code is 137. The first
 * process of a container or PID namespace is not reached by signals that it sends to itself (pid_namespaces(7)), but it is by a
 * breakpoint that no one handles: its exit code is 133.
 */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
  setFlagsFromString('--allow-natives-syntax');
  new Function('%SystemBreak()')();
}
