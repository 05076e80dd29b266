const { TestEnvironment } = require('jest-environment-node');

/** The mutant that a test has noticed. */
let noticed;

/** Skips the other tests of a mutant that one has noticed: Jest can't do that when Stryker runs it. */
module.exports = class extends TestEnvironment {
  handleTestEvent({ name, test }) {
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutant === undefined) return;
    if (name === 'test_fn_failure' || name === 'hook_failure') noticed = mutant;
    if (name === 'test_start' && noticed === mutant) test.mode = 'skip';
  }
};
