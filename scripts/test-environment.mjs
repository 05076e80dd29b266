// Jest's environment for Node, which also says which test file left a timer, a server, a connection or a process open. Jest
// itself finds them only when a worker does not end, and names neither the file nor the thing.
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';

/** The reporter looks for it in what workers print. */
export const LEFT_OPEN = 'Left open by';

/** What was closed at the end of a test may take so long to be gone; milliseconds. */
const GONE_WITHIN_MS = 5_000;
/** What Node counts, in plain words. Whatever is not here does not outlive a test file, or is Jest's own. */
const KINDS = {
  Timeout: 'timer',
  TCPServerWrap: 'server',
  TCPSocketWrap: 'connection',
  TLSWrap: 'TLS connection',
  ProcessWrap: 'child process',
  FSEventWrap: 'file watcher',
  StatWatcher: 'file watcher',
  SignalWrap: 'signal listener',
  MessagePort: 'message port',
  Worker: 'worker thread',
  UDPWRAP: 'UDP socket',
};

/** How many there are of each kind that keep this process alive. */
function openNow() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo())
    if (kind in KINDS) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

export default class extends TestEnvironment {
  #path;
  #before = openNow();

  constructor(config, context) {
    super(config, context);
    this.#path = relative(config.globalConfig.rootDir, context.testPath);
  }

  async teardown() {
    let left = this.#left();
    for (let waited = 0; left.length > 0 && waited < GONE_WITHIN_MS; waited += 50) {
      await delay(50);
      left = this.#left();
    }
    if (left.length > 0) process.stderr.write(`\n${LEFT_OPEN} ${this.#path}: ${left.join(', ')}\n`);
    await super.teardown();
  }

  #left() {
    const left = [];
    for (const [kind, count] of openNow()) {
      const more = count - (this.#before.get(kind) ?? 0);
      if (more > 0) left.push(`${more} × ${KINDS[kind]}`);
    }
    return left;
  }
}
