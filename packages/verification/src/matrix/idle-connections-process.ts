import { once } from 'node:events';
import { connect } from 'node:net';

// `idle-connections-process.ts <port> <size>`: opens silent connections, prints
// "open" and holds them until its standard input ends. Then it prints how many the server has ended.

/** Fits into the queue of a server with Node's default backlog of 511. */
const AT_ONCE = 250;

const [port, size] = process.argv.slice(2).map(Number) as [number, number];
let opened = 0;
let lost = 0;
while (opened < size) {
  const more = Array.from({ length: Math.min(AT_ONCE, size - opened) }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.all(more.map((socket) => once(socket, 'connect')));
  for (const socket of more) socket.on('close', () => lost++);
  opened += more.length;
}
console.log('open');
await once(process.stdin.resume(), 'end');
console.log(`lost ${String(lost)}`);
process.exit(0);
