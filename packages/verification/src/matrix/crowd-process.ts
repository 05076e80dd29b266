import { once } from 'node:events';
import { connect } from 'node:net';

// `crowd-process.ts <port> <size>`: opens connections that say nothing, says "open", and holds them
// until its standard input ends. Then it tells how many of them the server has ended.

/** As many as fit into the queue of a server that has a backlog of Node's default, 511. */
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
