// Starts a simulator with a file, makes it hold a lot, and goes on changing it until it is killed.
// Prints, after each write that it saw, a number of calls that the file holds for sure.
import { statSync } from 'node:fs';
import { startSimulator } from '@call-webhooks/simulator';

const [db = ''] = process.argv.slice(2);
const simulator = await startSimulator({ db, clock: 'manual' });
const inode = () => statSync(db, { throwIfNoEntry: false })?.ino;

for (let sent = 0; sent < 4_000; sent++)
  simulator.messages.send({ subject: 'A subject of some length', to: 'someone@customer.example' });

let file = inode();
let callsAtWrite = simulator.calls.list().length;
setInterval(() => {
  simulator.calls.start();
  if (inode() === file) return;
  file = inode();
  // A write begins after the one before it: it holds what there was when that one was seen.
  process.stdout.write(`${String(callsAtWrite)}\n`);
  callsAtWrite = simulator.calls.list().length - 1;
}, 5);
