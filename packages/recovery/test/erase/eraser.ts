import { erase } from '../../src/index.ts';
import { PLACES, type PlaceName } from './places.ts';

// An erasure in a process that is killed after some matches. Values come from standard input.
const [name, url = '', matches] = process.argv.slice(2);
const place = await PLACES[name as PlaceName](url);
let left = Number(matches);
let input = '';
for await (const chunk of process.stdin) input += String(chunk);
await erase({
  ...{ contains: input.trim().split('\n'), by: 'a test', loseWaiting: true },
  ...{ store: place.store, deadLetters: place.deadLetters, jobs: place.queued?.jobs },
  onProgress({ match }) {
    if (match) left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
await place.close();
