const { TestEnvironment } = require('jest-environment-node');

/** The mutant that a test has noticed. */
let noticed;

module.exports = class extends TestEnvironment {
  /** The tests whose `beforeAll` has run, by the id that stands for it in Stryker's coverage. */
  #prepared = new Map();

  handleTestEvent(event) {
    const stryker = this.global.__stryker__;
    if (stryker?.mutantCoverage) this.#cover(stryker, event);
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutant !== undefined) skipOthers(mutant, event);
  }

  /** Stryker counts what `beforeAll` runs as covered by no test. It is covered by each that it prepares. */
  #cover(stryker, { name, hook }) {
    const { perTest } = stryker.mutantCoverage;
    // Stryker forgets to: what the next file loads would count as covered by a skipped test.
    if (name === 'test_skip') stryker.currentTestId = undefined;
    if (name === 'run_finish')
      for (const [id, tests] of this.#prepared) {
        for (const test of tests) perTest[test] = sum(perTest[test], perTest[id]);
        Reflect.deleteProperty(perTest, id);
      }
    if (hook?.type !== 'beforeAll') return;
    const id = `beforeAll ${this.#prepared.size}`;
    if (name === 'hook_start') stryker.currentTestId = id;
    if (name !== 'hook_success' && name !== 'hook_failure') return;
    stryker.currentTestId = undefined;
    this.#prepared.set(id, testsOf(hook.parent));
  }
};

/** Skips the other tests of a mutant that one has noticed: Jest can't do that when Stryker runs it. */
function skipOthers(mutant, { name, test }) {
  if (name === 'test_fn_failure' || name === 'hook_failure') noticed = mutant;
  if (name === 'test_start' && noticed === mutant) test.mode = 'skip';
}

/** The tests of a block and of those in it, by the ids that Stryker gives them. */
const testsOf = (block) =>
  block.children.flatMap((child) => {
    if (child.type === 'describeBlock') return testsOf(child);
    return child.mode === 'skip' || child.mode === 'todo' ? [] : [idOf(child)];
  });
const idOf = ({ name, parent }) => (parent ? `${idOf(parent)} ${name}`.trimStart() : '');

/** How often each mutant was reached. */
function sum(one = {}, other = {}) {
  const total = { ...one };
  for (const [mutant, count] of Object.entries(other)) total[mutant] = (total[mutant] ?? 0) + count;
  return total;
}
