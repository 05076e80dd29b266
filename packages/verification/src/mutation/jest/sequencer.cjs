const { basename } = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;

/** How many mutants of a source each test file noticed: source → test file → count. */
const noticed = new Map();

/** The source whose mutant is tested: Stryker asks Jest for the tests that are related to it. */
const sourceOf = ({ nonFlagArgs }) => nonFlagArgs[0] ?? '';

/** A test that starts servers takes longer. */
const startsServers = ({ path }) => Number(path.endsWith('.integration.test.ts'));

/**
 * Runs the test files first that start no servers, and of these, those that noticed most mutants of this
 * source, or that are named after it.
 */
module.exports = class extends Sequencer {
  constructor(options) {
    super(options);
    this.source = sourceOf(options.globalConfig);
  }

  sort(tests) {
    const counts = noticed.get(this.source);
    const name = basename(this.source, '.ts');
    const rank = ({ path }) =>
      (counts?.get(path) ?? 0) + (basename(path) === `${name}.test.ts` ? 1 : 0);
    return tests.toSorted((a, b) => startsServers(a) - startsServers(b) || rank(b) - rank(a));
  }
};

/** Notes that a test file noticed a mutant of the source that is tested. */
module.exports.noticedIn = (globalConfig, testPath) => {
  const source = sourceOf(globalConfig);
  const counts = noticed.get(source) ?? new Map();
  noticed.set(source, counts.set(testPath, (counts.get(testPath) ?? 0) + 1));
};
