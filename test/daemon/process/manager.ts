import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeFolder, until } from '../../journey/process.ts';

/** Simulates systemd: a real datagram socket, which Node can't open, that prints each datagram as a line. */
const listener = `
import socket, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(sys.argv[1])
print("LISTENING", flush=True)
while True:
    words = heard.recv(4096)
    if words and words != b"BARRIER=1": print(words.decode().strip().replace("\\n", " "), flush=True)
`;

export async function openManager(): Promise<{ socket: string; heard: () => string[] }> {
  const socket = join(await makeFolder(), 'notify');
  const child = spawn('python3', ['-c', listener, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await until('the notification socket to listen', () => text.includes('LISTENING'));
  return { socket, heard: () => text.split('\n').slice(1, -1) };
}
