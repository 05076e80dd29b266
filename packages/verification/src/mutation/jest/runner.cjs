const TestRunner = require('jest-runner').default;
const { noticedIn } = require('./sequencer.cjs');

/** Ends the run of a mutant with the first test file that notices it: Stryker can't tell Jest to bail. */
module.exports = class extends TestRunner {
  runTests(tests, watcher, options) {
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    const stop = async ([test, { numFailingTests }]) => {
      if (mutant === undefined || numFailingTests === 0) return;
      noticedIn(this._globalConfig, test.path);
      await watcher.setState({ interrupted: true });
    };
    this.on('test-file-success', stop); // "success" means that the file ran
    return super.runTests(tests, watcher, options);
  }
};
