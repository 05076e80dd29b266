// Fails a run of Jest in which something went on after its tests. Jest only prints that, and exits with 0.
import { LEFT_OPEN } from './test-environment.mjs';

const SIGNS = [
  // A timer, a server or a connection that was never closed.
  'A worker process has failed to exit gracefully',
  // Work that nobody awaited.
  'Cannot log after tests are done',
  'after the Jest environment has been torn down',
];

export default class {
  #found = new Set();
  /** What the environment said of single test files. It fails the run even if it has ended by itself since. */
  #leftOpen = new Set();

  // What workers print comes through this process as well.
  onRunStart() {
    for (const stream of [process.stdout, process.stderr]) {
      const write = stream.write;
      stream.write = (chunk, ...rest) => {
        const text = String(chunk);
        for (const sign of SIGNS) if (text.includes(sign)) this.#found.add(sign);
        for (const line of text.split('\n'))
          if (line.startsWith(LEFT_OPEN)) {
            this.#leftOpen.add(line.trimEnd());
            this.#found.add(LEFT_OPEN);
          }
        return write.call(stream, chunk, ...rest);
      };
    }
  }

  onRunComplete() {
    if (this.#found.size === 0) return;
    const where =
      this.#leftOpen.size > 0
        ? [...this.#leftOpen].join('\n')
        : 'Run single folders to find out which test it is.';
    console.error(
      `\nThe run fails, since Jest printed: ${[...this.#found].map((sign) => `"${sign}"`).join(', ')}.\nA test left something open, or did not wait for something. Close it in the test, or in its afterAll.\n${where}`,
    );
  }

  getLastError() {
    if (this.#found.size > 0) return new Error('Something went on after the tests.');
  }
}
