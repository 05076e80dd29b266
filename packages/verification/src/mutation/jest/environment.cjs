const { TestEnvironment } = require('jest-environment-node');

/** The mutant that a test has noticed. */
let noticed;

/** Skips the other tests of a mutant that one has noticed: Jest can't do that when Stryker runs it. */
module.exports = class extends TestEnvironment {
  handleTestEvent({ name, test }) {
    // Stryker forgets to: what the next file loads would count as covered by a skipped test.
    if (name === 'test_skip' && this.global.__stryker__)
      this.global.__stryker__.currentTestId = undefined;
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutant === undefined) return;
    if (name === 'test_fn_failure' || name === 'hook_failure') noticed = mutant;
    if (name === 'test_start' && noticed === mutant) test.mode = 'skip';
  }
};
